//! The replay engine: an event log drives an allocator of elastic training tasks.
//!
//! [`run`] walks the log event by event, keeps the accounts (progress, rescale
//! costs, preemptions, completions) and asks a [`Decider`] for the next
//! allocation. It neither reads files nor writes to a terminal. The semantics are those
//! of BFTrainer's replayer (arXiv:2106.12091, section 4).

mod accounts;
mod apply;
pub mod compare;
pub mod decide;
mod efficiency;
mod engine;
mod fairness;
mod groups;
mod hindsight;
pub mod initial;
mod minimums;
pub mod node_choice;
pub mod nodes;
mod options;
mod queue;
pub mod rounds;
mod summary;
mod supply;
pub mod t_fwd;
mod trial_figures;
mod trials;

pub use decide::{Decider, Decision, Plan, SolverDecider};
pub use engine::{Control, run, run_choosing};
pub use initial::Initial;
pub use options::Options;
pub use t_fwd::{ChosenWindow, TFwd};
