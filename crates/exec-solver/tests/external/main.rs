//! Solvers that are programs: examples, faults and plans found on the way.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod examples;
mod faults;
mod incumbents;
