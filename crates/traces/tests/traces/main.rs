//! Tests that traces of GPU clusters are converted to the expected jobs and virtual clusters.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

mod faults;
mod round_trips;
mod samples;
mod support;
