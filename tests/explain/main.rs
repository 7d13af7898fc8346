//! `gleaner explain` on models of the sample cluster, as a user runs it.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

#[path = "../support/browser.rs"]
mod browser;
mod escapes;
mod faults;
mod pages;
mod predictions;
mod rules;
#[path = "../support/runs.rs"]
mod runs;
mod support;
mod terms;
