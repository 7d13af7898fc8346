//! The result tables that policies are compared by, for programs.

use csv::Writer;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::lucid::metrics::{Delays, Metrics};

/// A policy's name in files, and its figures.
pub type Entry<'a> = (&'a str, &'a Metrics);

/// A figure to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Average job completion time.
    AverageJct,
    /// Average queuing.
    AverageQueue,
    /// 99.9th percentile of queuing.
    LongestQueue,
}

impl Figure {
    /// All figures.
    pub const ALL: [Figure; 3] = [
        Figure::AverageJct,
        Figure::AverageQueue,
        Figure::LongestQueue,
    ];

    /// The name of its file without extension; the first two are the original's.
    pub fn name(self) -> &'static str {
        match self {
            Figure::AverageJct => "jct_avg",
            Figure::AverageQueue => "que_avg",
            Figure::LongestQueue => "que_p999",
        }
    }

    /// Its value in whole seconds, cut off, as published.
    pub fn of(self, delays: &Delays) -> i64 {
        let seconds = match self {
            Figure::AverageJct => delays.avg_jct_s,
            Figure::AverageQueue => delays.avg_queue_s,
            Figure::LongestQueue => delays.p999_queue_s,
        };
        seconds as i64
    }
}

/// Row of all virtual clusters together.
pub(super) const ALL: &str = "all";

/// A figure by virtual cluster (rows) and policy (columns) as CSV, in whole seconds; empty
/// where a virtual cluster had no job.
///
/// # Errors
/// Never in practice: the writer's words where it fails.
pub fn averages(figure: Figure, placer: &str, entries: &[Entry<'_>]) -> Result<Vec<u8>> {
    let mut csv = Writer::from_writer(Vec::new());
    let policies = entries
        .iter()
        .map(|(policy, _)| format!("{policy}_{placer}"));
    let header = std::iter::once(String::new()).chain(policies);
    csv.write_record(header).map_err(failed)?;
    for row in by_vc(figure, entries) {
        csv.write_record(row).map_err(failed)?;
    }
    csv.into_inner().map_err(failed)
}

/// Rows of cells: a virtual cluster's name, then the figure of each policy; last of all.
pub(super) fn by_vc(figure: Figure, entries: &[Entry<'_>]) -> Vec<Vec<String>> {
    let cell = |delays: Option<&Delays>| delays.map_or(String::new(), |d| figure.of(d).to_string());
    let vcs = entries
        .first()
        .map_or(0, |(_, metrics)| metrics.vcs.0.len());
    let mut rows: Vec<Vec<String>> = Vec::new();
    for vc in 0..vcs {
        let cells = entries.iter().map(|(_, m)| cell(m.vcs.0[vc].1.as_ref()));
        let name = entries[0].1.vcs.0[vc].0.clone();
        rows.push(std::iter::once(name).chain(cells).collect());
    }
    let all = entries.iter().map(|(_, m)| cell(Some(&m.all)));
    rows.push(std::iter::once(ALL.to_owned()).chain(all).collect());
    rows
}

/// All figures as `summary.json` has them: `{"policies": {"fifo": {...}, ...}}`.
///
/// # Errors
/// Never in practice: the serialiser's words where it fails.
pub fn summary(entries: &[Entry<'_>]) -> Result<Value> {
    let mut policies = Map::new();
    for (policy, metrics) in entries {
        let metrics = serde_json::to_value(metrics).map_err(failed)?;
        policies.insert((*policy).to_owned(), metrics);
    }
    let summary = Map::from_iter([("policies".to_owned(), Value::Object(policies))]);
    Ok(Value::Object(summary))
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Run(error.to_string())
}
