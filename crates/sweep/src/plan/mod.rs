//! Plans: read, validated, and expanded into the settings of runs in a fixed order.

mod axis;
mod check;
mod parsed;
mod read;
mod replay;
mod settings;
mod simulate;
#[cfg(test)]
mod tests;
mod visit;

pub use axis::Axis;
pub use check::PlanFault;
pub use parsed::Parsed;
pub use read::read;
pub use replay::{Combination, ReplayPlan};
pub use settings::{ReplayChoices, ReplaySettings, TaskFiles};
pub use simulate::{SimulatePlan, SimulateSettings};

use gleaner_core::results::sweep::Mode;
use serde::Deserialize;

/// Most runs of a plan.
pub const MAX_RUNS: usize = 10_000_000;

/// The content of a plan file, which holds one of the two.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// Replays of a log.
    #[serde(default)]
    pub replay: Option<ReplayPlan>,
    /// Simulations of a trace.
    #[serde(default)]
    pub simulate: Option<SimulatePlan>,
}

/// A valid plan.
#[derive(Debug)]
pub enum Plan {
    /// Replays of a log.
    Replay(Box<ReplayPlan>),
    /// Simulations of a trace.
    Simulate(Box<SimulatePlan>),
}

impl Plan {
    /// Whether it runs replays or simulations.
    pub fn mode(&self) -> Mode {
        match self {
            Plan::Replay(_) => Mode::Replay,
            Plan::Simulate(_) => Mode::Simulate,
        }
    }
}
