//! Writes the results of `gleaner sweep`: a table with a row for each run, and the best settings.

pub mod scale;

mod table;
mod text;

pub use table::{settings, table};
pub use text::{best_settings, ended, listing, note_on_placers, summary};

use serde_json::Value;

use gleaner_domain::results::sweep::{
    Best, Group, Metric, Mode, Replication, RunOutcome, SweepRow, best, groups,
};
use table::shown;

/// A run of a sweep, whether it is done or not.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepRun {
    /// Key of the run's result: a digest of the program's version and of the run's settings and inputs.
    pub key: String,
    /// The run's settings as JSON.
    pub settings: Value,
}

/// A finished sweep.
#[derive(Debug, Clone)]
pub struct Sweep<'a> {
    /// The runs, in the plan's order.
    runs: &'a [SweepRun],
    /// The results of the runs, in the order of `runs`.
    results: &'a [RunOutcome],
    /// Whether the runs are replays or simulations.
    mode: Mode,
    /// The metric by which the best settings are chosen.
    by: Metric,
    /// The kind of repetitions over which means and intervals are computed.
    over: Replication,
    /// The runs, grouped by all settings except the seed and the window.
    groups: Vec<Group>,
}

impl<'a> Sweep<'a> {
    /// Combines the runs of a finished sweep with their results. `runs` and `results` are both in the plan's order.
    /// `by` is the metric by which the best settings are chosen. `over` is the kind of repetitions over which means and
    /// intervals are computed.
    pub fn new(
        runs: &'a [SweepRun],
        results: &'a [RunOutcome],
        mode: Mode,
        by: Metric,
        over: Replication,
    ) -> Self {
        let of = |(run, result): (&SweepRun, &RunOutcome)| SweepRow {
            settings: mode
                .settings()
                .iter()
                .map(|field| shown(run.settings.pointer(field.pointer)))
                .collect(),
            figures: (mode.metrics().iter())
                .map(|metric| metric.of(&result.summary))
                .collect(),
        };
        let swept: Vec<SweepRow> = runs.iter().zip(results).map(of).collect();
        Sweep {
            runs,
            results,
            mode,
            by,
            over,
            groups: groups(mode, &swept, over),
        }
    }

    /// The best settings according to a metric. Other metrics break ties, in their order of importance.
    fn best(&self, metric: &Metric) -> Option<Best> {
        best(&self.groups, self.mode, metric)
    }

    /// The first run of a group, which has the group's settings.
    fn first_of(&self, group: usize) -> &'a SweepRun {
        &self.runs[self.groups[group].runs[0]]
    }
}
