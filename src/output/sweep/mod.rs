//! What `gleaner sweep` writes: a table with a row a run, and the best settings.

mod store;
mod table;
mod text;

pub use store::{Saved, Store};
pub use table::table;
pub use text::{listing, summary, text};

use serde_json::Value;

use crate::sweep::{Best, Metric, Mode, best};

/// A run of a sweep, done or not.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepRun {
    /// Name of its file: a digest of its settings and its inputs.
    pub key: String,
    /// Its settings.
    pub settings: Value,
}

/// A finished sweep.
#[derive(Debug, Clone, Copy)]
pub struct Sweep<'a> {
    /// Its runs, in the plan's order.
    pub runs: &'a [SweepRun],
    /// The summary of each.
    pub summaries: &'a [Value],
    /// What it ran.
    pub mode: Mode,
    /// The figure by which the best run is chosen.
    pub by: Metric,
}

impl Sweep<'_> {
    /// The best run by a figure; the figures that matter most tell equals apart.
    fn best(&self, metric: &Metric) -> Option<Best> {
        best(self.summaries, metric, &self.mode.ties(metric))
    }
}
