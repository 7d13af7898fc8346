//! Domain types: event logs, training tasks, scaling curves, clusters, jobs, times.

pub mod clock;
pub mod cluster;
pub mod curve;
pub mod events;
pub mod fingerprint;
pub mod inputs;
pub mod jobs;
pub mod names;
pub mod node_order;
pub mod node_rule;
pub mod objective;
pub mod script;
pub mod slice;
pub mod stamp;
pub mod task_group;
pub mod tasks;
pub mod time;
pub mod trial_search;

pub use clock::Clock;
pub use cluster::{Cluster, VirtualCluster};
pub use curve::{CurveSet, ScalingCurve};
pub use events::{Change, EventLog, EventLogBuilder, InvalidLog};
pub use fingerprint::Fingerprint;
pub use jobs::{Job, Known, Trace, Usage, Workload};
pub use node_order::NodeOrder;
pub use node_rule::NodeRule;
pub use objective::Objective;
pub use script::Script;
pub use slice::Slice;
pub use stamp::Stamp;
pub use task_group::TaskGroup;
pub use tasks::TrainingTask;
pub use time::Time;
pub use trial_search::TrialSearch;
