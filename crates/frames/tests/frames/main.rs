//! Compares frames with the rows from which they are built, and with sums written out by hand.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
// `json!` of a whole summary recurses once for each field.
#![recursion_limit = "256"]

mod columns;
mod damage;
mod runs;
mod shapes;
mod support;
mod sweeps;
