//! Metrics: the figures in summaries by which runs are compared.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::field::Kind;
use crate::results::programs::Tally;
use crate::results::replay::Summary;
use crate::results::simulate::PolicyFigures;
use crate::results::{self, Direction, Figures};

/// The summary of a run of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RunSummary {
    /// The summary of a replay.
    Replay(Box<Summary>),
    /// The figures of a simulation under one policy.
    Simulate(Box<PolicyFigures>),
}

/// The result of a run of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunOutcome {
    /// The run's summary.
    pub summary: RunSummary,
    /// The tally of the solver's answers, if the solver is an external program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Tally>,
}

/// A figure in the summary of a run, by which the runs of a sweep can be compared.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// The name of the figure's column.
    pub name: &'static str,
    /// Type of the column's values.
    pub kind: Kind,
    /// The direction in which values improve; `None` for figures that only describe the run.
    pub best: Option<Direction>,
    of: Of,
}

/// The function that reads the figure from a summary.
#[derive(Debug, Clone, Copy)]
enum Of {
    Replay(fn(&Summary) -> Option<f64>),
    Simulate(fn(&PolicyFigures) -> Option<f64>),
}

impl Metric {
    fn new<S>(metric: &results::Metric<S>, of: Of) -> Self {
        Metric {
            name: metric.name,
            kind: if metric.is_whole {
                Kind::Whole
            } else {
                Kind::Float
            },
            best: metric.best,
            of,
        }
    }

    /// The figure's value in a run's summary; `None` if the run has no value.
    pub fn of(&self, summary: &RunSummary) -> Option<f64> {
        match (self.of, summary) {
            (Of::Replay(of), RunSummary::Replay(summary)) => of(summary),
            (Of::Simulate(of), RunSummary::Simulate(figures)) => of(figures),
            _ => None,
        }
    }
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// Figures of a replay.
pub(super) static REPLAY: LazyLock<Vec<Metric>> = LazyLock::new(|| {
    let metrics = Summary::METRICS.iter();
    metrics
        .map(|metric| Metric::new(metric, Of::Replay(metric.of)))
        .collect()
});

/// Figures of a simulation.
pub(super) static SIMULATE: LazyLock<Vec<Metric>> = LazyLock::new(|| {
    let metrics = PolicyFigures::METRICS.iter();
    metrics
        .map(|metric| Metric::new(metric, Of::Simulate(metric.of)))
        .collect()
});
