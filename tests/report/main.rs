//! Pages and pictures about runs, made by the program as a user runs it.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

mod broken;
mod browser;
#[path = "../support/browser.rs"]
mod check_pages;
mod inspected;
mod numbers;
mod page;
#[path = "../support/runs.rs"]
mod runs;
mod support;
mod swept;
