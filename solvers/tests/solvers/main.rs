//! Compares the solvers with brute force, reference optima and each other.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
mod exact;
mod fair;
mod grouped;
mod left_out;
mod milp;
mod observed;
mod range;
mod warm;
