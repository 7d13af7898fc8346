//! Tests plans of many runs, and their assignment to parts.

mod deals;
mod plans;
