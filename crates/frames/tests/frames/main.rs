//! Compares frames with the rows from which they are built, and with results computed without data frames.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
// `json!` recurses once for each field, and a summary has many fields.
#![recursion_limit = "256"]

mod columns;
mod damage;
mod runs;
mod shapes;
mod support;
mod sweeps;
