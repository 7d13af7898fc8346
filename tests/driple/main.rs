//! `gleaner driple` and `gleaner synth graphs` as a user runs them.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

mod build;
mod convert;
#[path = "../support/data.rs"]
mod data;
mod evaluate;
mod interrupt;
mod predict;
mod profiles;
#[path = "../support/runs.rs"]
mod runs;
mod simulate;
mod support;
mod train;
