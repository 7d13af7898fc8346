//! `gleaner driple` and `gleaner synth graphs` as a user runs them, and the use of predictions.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

mod build;
mod convert;
mod evaluate;
mod first_run;
mod interrupt;
mod predict;
mod profiles;
#[path = "../support/runs.rs"]
mod runs;
mod simulate;
mod support;
mod train;
