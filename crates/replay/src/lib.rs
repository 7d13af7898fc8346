//! The replay engine: an event log drives an allocator of elastic training tasks.
//!
//! Three parts share the work:
//!
//! - The [`allocator`] takes batches of events and decides which task gets which nodes. It requests plans
//!   from a [`Decider`]. A daemon that drives real tasks can use the allocator unchanged.
//! - The ledger books the results of decisions: progress along scaling curves, and the costs of rescaling and
//!   preemption. It fills all tables and predicts when tasks finish.
//! - [`run`] is the driver. It feeds the events of the log and the predicted completions to the allocator in
//!   chronological order, and books the decisions in the ledger.
//!
//! None of these parts reads files or writes to a terminal. The semantics are those of BFTrainer's replayer
//! (arXiv:2106.12091, section 4).

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
pub use options::Options;
pub use run::{run, run_choosing};
