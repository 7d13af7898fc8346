//! Tests the pages and pictures that `gleaner report` writes about runs.

mod broken;
mod browser;
mod compared;
mod inspected;
mod large;
mod numbers;
mod page;
mod searched;
mod stopped;
mod support;
mod swept;
