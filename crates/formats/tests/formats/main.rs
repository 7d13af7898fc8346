//! Readers and writers of every format, through the public API.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

mod corruption;
mod ingest;
mod jobs;
mod readers;
mod simulate_output;
