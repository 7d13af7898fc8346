//! The replay engine: an event log drives an allocator of elastic training tasks.
//!
//! Three parts share the work:
//!
//! - The [`allocator`] takes batches of events and decides which task gets which nodes. It asks a
//!   [`Decider`] for plans. A daemon that drives real tasks can use it as it is.
//! - The ledger books what the decisions bring: progress by the scaling curves, the costs of rescaling and
//!   preemption, and all tables. It predicts when tasks finish.
//! - [`run`] is the driver. It feeds the events of the log and the predicted completions to the allocator,
//!   in the order of time, and books the decisions in the ledger.
//!
//! None of them reads files or writes to a terminal. The semantics are those of BFTrainer's replayer
//! (arXiv:2106.12091, section 4).

pub mod allocator;
pub mod compare;
pub mod initial;
mod ledger;
mod options;
mod run;
pub mod t_fwd;

pub use allocator::decide::{self, Decider, Decision, Plan, SolverDecider};
pub use allocator::{node_choice, nodes, rounds};
pub use initial::Initial;
pub use options::Options;
pub use run::{Control, run, run_choosing};
pub use t_fwd::{ChosenWindow, TFwd};
