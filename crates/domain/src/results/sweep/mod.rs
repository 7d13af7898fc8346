//! The results of sweeps: settings and figures of the runs, their means over seeds or
//! parts of the log, and the best settings.

mod bootstrap;
mod field;
mod groups;
mod metrics;
mod mode;
mod replication;
mod select;
mod spread;

pub use bootstrap::{Block, Bootstrap, RESAMPLES};
pub use field::{Field, Kind, PROGRAM_FAULTS};
pub use groups::{Group, SweepRow, groups};
pub use metrics::{Metric, RunOutcome, RunSummary};
pub use mode::Mode;
pub use replication::{MIN_WINDOWS, Replication, SEED, WINDOW, only_repeats};
pub use select::{Best, best};
pub use spread::{Interval, Spread};
