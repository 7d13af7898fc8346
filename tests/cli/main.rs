//! The program as a user runs it: exit codes, messages, files.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

#[path = "../support/data.rs"]
mod data;
mod ingest_traces;
mod program;
mod range;
mod replay;
#[path = "../support/runs.rs"]
mod runs;
mod shared_curves;
mod simulate;
mod simulate_faults;
mod simulate_original;
mod simulate_usage;
mod solve;
mod support;
mod synth_jobs;
