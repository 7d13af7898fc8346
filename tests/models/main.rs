//! Models trained here, as the simulator and users use them.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

mod commands;
mod foresight;
#[path = "../support/runs.rs"]
mod runs;
mod venus;
