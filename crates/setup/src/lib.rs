//! Turns settings into inputs of the engines: finds, reads, completes and validates the inputs of replays and
//! simulations.
//!
//! [`ReplaySettings`] and [`SimulationSettings`] contain all settings. Each setting is declared once, as the module
//! [`mod@settings`] describes. The command line, Python and sweep plans set them by name, and run.json records them.
//! [`Replay::open`] and [`Experiment::open`] return the inputs of the engines.

pub mod experiment;
#[doc(hidden)] // public only for `named_values!`
pub mod named;
pub mod replay;
pub mod settings;
pub mod solver;
mod solver_choice;

use gleaner_domain::Observer;
use gleaner_domain::error::Faults;

pub use experiment::{Experiment, ExperimentArgs, SimulationSettings};
pub use replay::{ClassArgs, LogArgs, Replay, ReplaySettings, Rules, SliceArgs, TFwd};
pub use solver::{Built, SolverArgs};
pub use solver_choice::{SolverChoice, SolverName};

/// Reports the parts of the inputs that were skipped because of faults, if any.
pub fn report_left_out(faults: &Faults, observer: &dyn Observer) {
    if !faults.0.is_empty() {
        observer.remark(&[format!("left out: {faults}")]);
    }
}
