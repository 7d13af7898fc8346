//! Sweeps: one run for every combination of settings that a plan lists.
//!
//! [`plan`] reads a plan and expands it. [`prepare`] reads everything that its runs need. Each of
//! the [`PreparedRuns`] can then be executed at any time, also in parallel. The best settings are
//! chosen from the results in [`gleaner_core::results::sweep`].

pub mod cluster;
pub mod plan;
mod runs;

pub use runs::{Alike, Attempt, PreparedRuns, execute, prepare, sweep_run};
