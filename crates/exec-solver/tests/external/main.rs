//! Tests of external solver programs: examples, faults and plans found during a search.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod classes;
mod examples;
mod faults;
mod incumbents;
