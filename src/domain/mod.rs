//! Domain types: event logs, training tasks, scaling curves, times.

pub mod events;
pub mod tasks;
pub mod time;

pub use events::{Change, EventLog, EventLogBuilder};
pub use tasks::{ScalingCurve, TrainingTask};
pub use time::Time;
