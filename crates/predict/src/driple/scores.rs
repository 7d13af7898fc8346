//! Compares predictions with measurements, metric by metric.

use gleaner_driple::dataset::{Dataset, Example, mean_labels};
use gleaner_driple::graph::METRICS;
use gleaner_driple::inspector::Inspector;
use gleaner_driple::train::Scale;
use gleaner_learn::metrics::{mean_absolute_error, r_squared, spearman};
use serde::Serialize;

use super::ridge::Ridge;
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};

/// One value for each metric, such as the predicted metrics of a job.
pub type Metrics = [f64; METRICS];

/// The accuracy of a model for each metric, in the order of
/// [`gleaner_driple::dataset::METRIC_NAMES`]. A measure that is undefined is NaN.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scores {
    /// Name of the model or baseline.
    pub model: String,
    /// Mean squared error after dividing labels and predictions by the metric's highest training
    /// label.
    pub mse: Metrics,
    /// Mean absolute error, in the metric's own unit.
    pub mae: Metrics,
    /// Mean absolute error as a share of the mean measured value.
    pub relative: Metrics,
    /// Coefficient of determination.
    pub r2: Metrics,
    /// Spearman's rank correlation.
    pub rank: Metrics,
}

impl Scores {
    /// The ratio of this model's mean squared error to that of `other`, both averaged over the
    /// metrics.
    pub fn share_of(&self, other: &Scores) -> f64 {
        mean(&self.mse) / mean(&other.mse)
    }
}

/// The mean of a measure over the metrics for which it is defined.
pub fn mean(values: &Metrics) -> f64 {
    let known: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    known.iter().sum::<f64>() / known.len() as f64
}

/// Computes a measure of one metric from the true values, the predictions and the index of the
/// metric.
type Measure<'m> = &'m dyn Fn(&[f64], &[f64], usize) -> f64;

/// The scores of `predicted`, which has one row per example.
pub fn scores(model: &str, examples: &[&Example], predicted: &[Metrics], scale: &Scale) -> Scores {
    let truth: Vec<Metrics> = examples.iter().map(|example| labels(example)).collect();
    let column = |rows: &[Metrics], metric: usize| rows.iter().map(|row| row[metric]).collect();
    let by = |score: Measure| -> Metrics {
        std::array::from_fn(|metric| {
            let (truth, predicted): (Vec<f64>, Vec<f64>) =
                (column(&truth, metric), column(predicted, metric));
            score(&truth, &predicted, metric)
        })
    };
    Scores {
        model: model.to_owned(),
        mse: by(&|truth, predicted, metric| {
            mean_squared_error(truth, predicted) / scale.0[metric].powi(2)
        }),
        mae: by(&|truth, predicted, _| mean_absolute_error(truth, predicted)),
        relative: by(&|truth, predicted, _| {
            let level = truth.iter().map(|value| value.abs()).sum::<f64>() / truth.len() as f64;
            if level > 0.0 {
                mean_absolute_error(truth, predicted) / level
            } else {
                f64::NAN
            }
        }),
        r2: by(&|truth, predicted, _| r_squared(truth, predicted)),
        rank: by(&|truth, predicted, _| spearman(truth, predicted)),
    }
}

/// Predictions of `inspector` for `examples`. If the inspector has no scale, its predictions are
/// shares of `scale`, so this function multiplies them by `scale`. The result is NaN for a graph
/// without a prediction.
///
/// # Errors
/// [`Error::Stopped`] if the observer stops the predictions.
pub fn predicted(
    inspector: &Inspector,
    examples: &[&Example],
    scale: &Scale,
    observer: &dyn Observer,
) -> Result<Vec<Metrics>> {
    let graphs: Vec<_> = examples.iter().map(|example| &example.graph).collect();
    let predictions = inspector.predict(&graphs, observer);
    let predictions = predictions.map_err(|_| Error::Stopped)?.into_iter();
    let known = inspector.card.scale.is_some();
    let metrics = predictions.map(|metrics| metrics.unwrap_or([f64::NAN; METRICS]));
    let own = metrics.map(|metrics| {
        if known {
            metrics
        } else {
            scale.multiply(metrics)
        }
    });
    Ok(own.collect())
}

/// The scores of two baselines without a network: the mean of each label, and ridge regression on graph statistics.
/// Both learn from the training set of `data`. Negative predictions of the regression count as 0.
pub fn baselines(data: &Dataset, examples: &[&Example], scale: &Scale) -> Vec<Scores> {
    let train: Vec<&Example> = data.train.iter().flatten().collect();
    if train.is_empty() {
        return Vec::new();
    }
    let means = vec![mean_labels(&train); examples.len()];
    let mut all = vec![scores("training mean", examples, &means, scale)];
    if let Some(ridge) = Ridge::fit(&train) {
        let possible = |e: &&Example| ridge.predict(&e.graph).map(|value| value.max(0.0));
        let told: Vec<Metrics> = examples.iter().map(possible).collect();
        all.push(scores("ridge on graph statistics", examples, &told, scale));
    }
    all
}

fn labels(example: &Example) -> Metrics {
    example.labels.map(f64::from)
}

fn mean_squared_error(truth: &[f64], predicted: &[f64]) -> f64 {
    let squares = truth.iter().zip(predicted).map(|(t, p)| (t - p).powi(2));
    squares.sum::<f64>() / truth.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    // The labels are 1 and 3, all predictions are off by 1, and the highest training label is 4.
    #[test]
    fn scores_follow_their_formulas() {
        let example = |label: f32| Example {
            name: String::new(),
            graph: gleaner_driple::graph::GroupedGraph::default(),
            labels: [label; METRICS],
        };
        let (low, high) = (example(1.0), example(3.0));
        let found = scores(
            "a",
            &[&low, &high],
            &[[2.0; METRICS], [4.0; METRICS]],
            &Scale([4.0; METRICS]),
        );
        assert_eq!(found.mse, [1.0 / 16.0; METRICS]);
        assert_eq!(found.mae, [1.0; METRICS]);
        assert_eq!(found.relative, [0.5; METRICS]);
        assert_eq!(found.r2, [0.0; METRICS]);
        assert_eq!(mean(&found.rank), 1.0);
    }
}
