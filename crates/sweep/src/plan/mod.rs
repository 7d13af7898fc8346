//! Reads and validates plans, and expands them to the settings of runs in a fixed order.
//!
//! A plan lists settings of `gleaner replay` or `gleaner simulate`, each with one or more values. A run has one
//! value of each setting.

mod axes;
mod read;
mod replay;
mod replication;
mod simulate;
mod table;
#[cfg(test)]
mod tests;

pub use read::read;
pub use replay::{Combination, PlanSettings, ReplayPlan};
pub use replication::{Cut, ReplicationArgs};
pub use simulate::SimulatePlan;
pub(crate) use simulate::{Listed, together};
pub use table::PlanFault;

use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::sweep::Mode;

/// Maximum number of runs of a plan.
pub const MAX_RUNS: usize = 10_000_000;

/// A valid plan.
#[derive(Debug)]
pub enum Plan {
    /// Replays of a log.
    Replay(Box<ReplayPlan>),
    /// Simulations of a trace.
    Simulate(Box<SimulatePlan>),
}

impl From<ReplayPlan> for Plan {
    fn from(plan: ReplayPlan) -> Self {
        Plan::Replay(Box::new(plan))
    }
}

impl From<SimulatePlan> for Plan {
    fn from(plan: SimulatePlan) -> Self {
        Plan::Simulate(Box::new(plan))
    }
}

impl Plan {
    /// The kind of the plan's runs: replays or simulations.
    pub fn mode(&self) -> Mode {
        match self {
            Plan::Replay(_) => Mode::Replay,
            Plan::Simulate(_) => Mode::Simulate,
        }
    }
    /// The same plan with its log cut as `args` specifies. If `args` is empty, the settings of the plan apply.
    ///
    /// # Errors
    /// [`Error::Usage`] if `args` is invalid, or if the plan has no log.
    pub fn with_cut(mut self, args: &ReplicationArgs) -> Result<Plan> {
        match (&mut self, args.cut()?) {
            (_, Cut::Whole) => {}
            (Plan::Replay(plan), _) => plan.base.replication = args.clone(),
            (Plan::Simulate(_), _) => {
                return Err(Error::Usage(
                    "--windows and --bootstrap cut the log of replays, but the plan has simulations: leave the \
                     option out"
                        .to_owned(),
                ));
            }
        }
        Ok(self)
    }
}
