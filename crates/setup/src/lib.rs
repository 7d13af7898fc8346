//! Turns settings into inputs of the engines: finds, reads, completes and validates everything that a replay or a
//! simulation needs.
//!
//! [`ReplaySettings`] and [`SimulationSettings`] contain all settings. Each is declared once, as the module
//! [`mod@settings`] describes. The command line, Python and sweep plans set them by name, and run.json records them.
//! [`Replay::open`] and [`Experiment::open`] return what the engines take.

pub mod experiment;
mod named;
pub mod replay;
pub mod settings;
pub mod solver;
mod solver_choice;

use gleaner_domain::Observer;
use gleaner_domain::error::Faults;

pub use experiment::{Experiment, ExperimentArgs, SimulationSettings};
pub use replay::{LogArgs, Replay, ReplaySettings, Rules, SliceArgs, TFwd};
pub use solver::{Built, SolverArgs};
pub use solver_choice::{SolverChoice, SolverName};

/// Reports what was skipped because of faults, if anything was.
pub fn report_left_out(faults: &Faults, observer: &dyn Observer) {
    if !faults.0.is_empty() {
        observer.remark(&[format!("left out: {faults}")]);
    }
}
