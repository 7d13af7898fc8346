//! The replay engine: an event log drives an allocator of elastic training tasks. The engine computes how much work the
//! tasks would do on the idle nodes of a log, given a solver and a set of rules.
//!
//! ```
//! use gleaner_domain::Unobserved;
//! use gleaner_domain::{Change, EventLogBuilder, Utc};
//! use gleaner_replay::{Options, SolverDecider, run};
//! use gleaner_solvers::{Limits, SolverKind, SolverSpec};
//!
//! # let tasks = gleaner_synth::tasks::generate(&gleaner_synth::tasks::TaskOptions {
//! #     count: 2, models: 1, max_nodes: 2, hours: 1.0, start: None, submit_every: 0.0, seed: 1,
//! # })?;
//! // Two nodes are idle for an hour.
//! let mut log = EventLogBuilder::new(vec!["n1".to_owned(), "n2".to_owned()]);
//! log.push_row(Utc::from_seconds(0), [0, 1].map(|node| Change::new(node, true)));
//! log.push_row(Utc::from_seconds(3600), [0, 1].map(|node| Change::new(node, false)));
//! let mut exact = SolverDecider::new(SolverSpec::new(SolverKind::Exact), Limits::default())?;
//! let options = Options::original(120.0, 10);
//! let outcome = run(&log.finish()?, &tasks, &options, &mut exact, &Unobserved)?;
//! assert_eq!(outcome.summary.idle_node_seconds, 2.0 * 3600.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Three parts share the work:
//!
//! - The [`allocator`] takes batches of events and decides which task gets which nodes. It requests plans
//!   from a [`Decider`]. A daemon that drives real tasks can use the allocator unchanged.
//! - The ledger books the results of decisions: progress along scaling curves, and the costs of rescaling and
//!   preemption. It fills all result tables and predicts when tasks finish.
//! - [`run`] is the driver. It feeds the events of the log and the predicted completions to the allocator in
//!   chronological order, and books the decisions in the ledger.
//!
//! None of these parts reads files or writes to a terminal. The semantics are the same as in BFTrainer's
//! replayer (arXiv:2106.12091, section 4).

pub mod allocator;
pub mod bound;
pub mod compare;
pub mod initial;
mod ledger;
mod options;
mod run;

pub use allocator::decide::{self, Decider, Decision, Plan, SolverDecider};
pub use allocator::{node_choice, nodes, rounds};
pub use initial::Initial;
pub use options::{NodeRates, Options};
pub use run::{Own, run, run_with};
