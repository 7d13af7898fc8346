//! What `gleaner sweep` writes: a table with a row a run, and the best settings.

mod store;
mod table;
mod text;

pub use store::{Saved, Store};
pub use table::{settings, table};
pub use text::{listing, summary, text};

use serde_json::Value;

use crate::sweep::{Best, Group, Metric, Mode, RunSummary, SweepRow, best, groups};
use table::shown;

/// A run of a sweep, done or not.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepRun {
    /// Name of its file: a digest of its settings and its inputs.
    pub key: String,
    /// Its settings.
    pub settings: Value,
}

/// A finished sweep.
#[derive(Debug, Clone)]
pub struct Sweep<'a> {
    /// Its runs, in the plan's order.
    runs: &'a [SweepRun],
    /// The summary of each.
    summaries: &'a [RunSummary],
    /// What it ran.
    mode: Mode,
    /// The figure by which the best settings are chosen.
    by: Metric,
    /// The runs by their settings.
    groups: Vec<Group>,
}

impl<'a> Sweep<'a> {
    /// Runs in the plan's order with the summary of each, of which the best settings are
    /// chosen by `by`.
    pub fn new(runs: &'a [SweepRun], summaries: &'a [RunSummary], mode: Mode, by: Metric) -> Self {
        let of = |(run, summary): (&SweepRun, &RunSummary)| SweepRow {
            settings: mode
                .settings()
                .iter()
                .map(|field| shown(run.settings.pointer(field.pointer)))
                .collect(),
            figures: mode.metrics().iter().map(|m| m.of(summary)).collect(),
        };
        let swept: Vec<SweepRow> = runs.iter().zip(summaries).map(of).collect();
        Sweep {
            runs,
            summaries,
            mode,
            by,
            groups: groups(mode, &swept),
        }
    }

    /// The best settings by a figure; the figures that matter most tell equals apart.
    fn best(&self, metric: &Metric) -> Option<Best> {
        best(&self.groups, self.mode, metric)
    }

    /// A run that stands for its group's settings.
    fn first_of(&self, group: usize) -> &'a SweepRun {
        &self.runs[self.groups[group].runs[0]]
    }
}
