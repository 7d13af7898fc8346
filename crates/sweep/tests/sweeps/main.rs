//! Tests plans with many runs, and the assignment of runs to parts.

mod deals;
mod plans;
