//! From arguments to engines: everything that a replay or a simulation needs is found, read,
//! completed with defaults or by models, and validated.
//!
//! [`LogArgs`] and [`ExperimentArgs`] are the settings as types. The command line parses them, and
//! run.json holds them. [`Replay::open`] and [`Experiment::open`] return what the engines take.

#[cfg(feature = "cli")]
mod choices;
pub mod experiment;
mod named;
pub mod replay;
pub mod solver;
mod solver_choice;

use gleaner_core::Observer;
use gleaner_core::error::Faults;

#[cfg(feature = "cli")]
pub use choices::one_of;
pub use experiment::{Experiment, ExperimentArgs};
pub use replay::{LogArgs, Replay, Rules, SliceArgs, TFwd};
pub use solver::{Built, SolverArgs};
pub use solver_choice::{SolverChoice, SolverName};

/// Reports what was left out because of its faults, if anything was.
pub fn report_left_out(faults: &Faults, observer: &dyn Observer) {
    if !faults.0.is_empty() {
        observer.remark(&[format!("left out: {faults}")]);
    }
}
