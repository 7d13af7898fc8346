//! Types that all parts of Gleaner share: event logs, training tasks, scaling curves, clusters, jobs, times, results
//! and errors. This crate also contains the wording of messages, and Student's t-distribution.
//!
//! ```
//! use gleaner_domain::{Change, EventLogBuilder, Utc};
//!
//! // Two nodes: the first is idle for an hour, and then both are in use.
//! let mut log = EventLogBuilder::new(vec!["n1".to_owned(), "n2".to_owned()]);
//! log.push_row(Utc::from_seconds(0), [Change::new(0, true)]);
//! log.push_row(Utc::from_seconds(3600), [Change::new(0, false)]);
//! assert_eq!(log.finish()?.nodes().len(), 2);
//! # Ok::<(), gleaner_domain::InvalidLog>(())
//! ```

pub mod class_terms;
pub mod clock;
pub mod cluster;
pub mod curve;
pub mod digest;
pub mod error;
pub mod events;
pub mod fingerprint;
pub mod inputs;
pub mod jobs;
pub mod names;
pub mod node_classes;
pub mod node_order;
pub mod node_rule;
pub mod objective;
pub mod parts;
pub mod quality;
pub mod queue;
pub mod results;
pub mod script;
pub mod slice;
pub mod stamp;
pub mod student;
pub mod task_group;
pub mod tasks;
pub mod time;
pub mod trial_search;
pub mod words;

pub use class_terms::{ClassTerms, Terms};
pub use clock::Clock;
pub use cluster::{Cluster, VirtualCluster};
pub use curve::{CurveSet, ScalingCurve};
pub use digest::Digest;
pub use error::{Error, Fault, Faults, Result};
pub use events::{Change, EventLog, EventLogBuilder, InvalidLog};
pub use fingerprint::Fingerprint;
pub use gleaner_observer::{self as observer, Observer, Unobserved};
pub use jobs::{Job, Known, Trace, Usage, Workload};
pub use node_classes::NodeClasses;
pub use node_order::NodeOrder;
pub use node_rule::NodeRule;
pub use objective::Objective;
pub use quality::{Quality, UnknownNodes};
pub use queue::{Pending, RowQueue};
pub use script::Script;
pub use slice::Slice;
pub use stamp::Stamp;
pub use task_group::TaskGroup;
pub use tasks::TrainingTask;
pub use time::{Local, Utc};
pub use trial_search::{MAX_LOSSES, TrialLoss, TrialSearch};
