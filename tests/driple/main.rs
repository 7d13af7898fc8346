//! `gleaner driple` as a user runs it, and what comes of its predictions.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

mod profiles;
#[path = "../support/runs.rs"]
mod runs;
mod simulate;
