//! Evaluates forecasts of GPU job submissions.

use gleaner_domain::Observer;
use gleaner_domain::observer::Parts;
use gleaner_learn::lucid::throughput::{FEATURES, Series, features, settings};
use gleaner_learn::{Column, Table};
use serde::Serialize;

use super::{BASELINES, EvaluateError, Score, Split, constants};

/// Scores of the forecasts of GPU jobs and of GPUs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThroughputScores {
    /// Number of training intervals.
    pub train: usize,
    /// Number of forecast intervals.
    pub test: usize,
    /// Scores of the forecasts of GPU jobs submitted per interval.
    pub jobs: Vec<Score>,
    /// Scores of the forecasts of GPUs requested by these jobs.
    pub gpus: Vec<Score>,
}

/// Trains on the first `train` intervals of a series, and forecasts the remaining intervals.
///
/// # Errors
/// The evaluation is stopped, or a model cannot be trained, for example because there are no training intervals.
pub fn throughput(
    series: &Series,
    train: usize,
    seed: u64,
    observer: &dyn Observer,
) -> Result<ThroughputScores, EvaluateError> {
    let parts = Parts::new(observer, work(train, seed));
    let table = features(series);
    let rows = |range: std::ops::Range<usize>| table.take(&range.collect::<Vec<_>>());
    let (first, rest) = (rows(0..train), rows(train..series.len()));
    let label = |labels: &[f64], hour_ago: &str| {
        let split = Split {
            train: &first,
            test: &rest,
            labels: &labels[..train],
            truth: &labels[train..],
            unit: |value| value,
            parts: &parts,
        };
        let mut scores = vec![split.ebm("EBM", settings(seed))?];
        scores.extend(split.baselines("", seed, ebm_work(train, seed))?);
        scores.push(Score::of(
            "value an hour ago",
            split.truth,
            &numbers(&rest, hour_ago),
        ));
        scores.extend(constants(split.labels, split.truth));
        Ok(scores)
    };
    Ok(ThroughputScores {
        train,
        test: series.len() - train,
        jobs: label(series.jobs(), "shift_1h_njob")?,
        gpus: label(series.gpus(), "shift_1h_ngpu")?,
    })
}

/// The work of an evaluation that learns from `train` intervals, in boosting rounds of one term on one row.
fn work(train: usize, seed: u64) -> usize {
    ebm_work(train, seed).saturating_mul(2 * (1 + BASELINES))
}

/// The work of training an EBM, in boosting rounds of one term on one row. Training a model from a library takes about
/// as long.
fn ebm_work(train: usize, seed: u64) -> usize {
    settings(seed).work(train, FEATURES.len())
}

fn numbers(table: &Table, name: &str) -> Vec<f64> {
    match table.column(name) {
        Some(Column::Numeric(values)) => values.clone(),
        _ => Vec::new(),
    }
}
