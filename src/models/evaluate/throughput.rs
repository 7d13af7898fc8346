//! The forecast of submissions.

use gleaner_models::lucid::throughput::{Series, features, settings};
use gleaner_models::{Column, Table};
use serde::Serialize;

use super::{EvaluateError, Score, Split, constants};

/// Forecasts of both labels, measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThroughputScores {
    /// Intervals learnt from.
    pub train: usize,
    /// Intervals forecast.
    pub test: usize,
    /// Of the GPU jobs submitted in an interval.
    pub jobs: Vec<Score>,
    /// Of the GPUs they ask for.
    pub gpus: Vec<Score>,
}

/// Learns the first `train` intervals of a series, and forecasts the others.
///
/// # Errors
/// A model that cannot be trained, as from no interval.
pub fn throughput(
    series: &Series,
    train: usize,
    seed: u64,
) -> Result<ThroughputScores, EvaluateError> {
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
        };
        let mut scores = vec![split.ebm("EBM", settings(seed))?];
        scores.extend(split.baselines("", seed)?);
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

fn numbers(table: &Table, name: &str) -> Vec<f64> {
    match table.column(name) {
        Some(Column::Numeric(values)) => values.clone(),
        _ => Vec::new(),
    }
}
