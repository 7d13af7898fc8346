//! The results of sweeps: settings and figures of the runs, their means over seeds, and the best
//! settings.

mod field;
mod groups;
mod metrics;
mod mode;
mod select;

pub use field::{Field, Kind, PROGRAM_FAULTS};
pub use groups::{Group, SEED, Spread, SweepRow, groups};
pub use metrics::{Metric, RunOutcome, RunSummary};
pub use mode::Mode;
pub use select::{Best, best};
