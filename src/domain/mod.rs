//! Domain types: event logs, training tasks, scaling curves, clusters, jobs, times.

pub mod cluster;
pub mod curve;
pub mod events;
pub mod jobs;
pub mod tasks;
pub mod time;

pub use cluster::{Cluster, VirtualCluster};
pub use curve::{CurveSet, ScalingCurve};
pub use events::{Change, EventLog, EventLogBuilder};
pub use jobs::{Job, Known, Trace, Usage, Workload};
pub use tasks::TrainingTask;
pub use time::Time;
