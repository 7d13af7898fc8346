//! Measures how well models predict unseen rows, and compares them with simple rules and with models from third-party
//! libraries.

mod throughput;
mod weekly;
mod workload;

use std::time::Instant;

use gleaner_domain::observer::Parts;
use gleaner_learn::Table;
use gleaner_learn::ebm::{Ebm, Settings};
use gleaner_learn::metrics::{mean, mean_absolute_error, median, r_squared, spearman};
use serde::Serialize;

pub use throughput::{ThroughputScores, throughput};
pub use workload::{Best, WorkloadScores, WorkloadTask, workload};

/// The accuracy of a model on the test rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Score {
    /// Name of the model or rule.
    pub model: String,
    /// Mean absolute error, in the label's unit.
    pub mae: f64,
    /// Coefficient of determination; NaN (`null` in JSON) if all true values are equal.
    pub r2: f64,
    /// Spearman's rank correlation; NaN (`null` in JSON) if all predictions or all true values are
    /// equal.
    pub spearman: f64,
    /// Training time in seconds; `None` if this evaluation did not train the model.
    pub fit_s: Option<f64>,
    /// Time to predict all test rows, in seconds; `None` if this evaluation did not train the model.
    pub predict_s: Option<f64>,
}

/// A model that failed, and the reason.
#[derive(Debug, thiserror::Error)]
#[error("{model}: {problem}")]
pub struct EvaluateError {
    /// Name of the model.
    pub model: String,
    /// The reason, as an error message.
    pub problem: String,
}

impl Score {
    /// Scores existing predictions. The training and prediction times are `None`.
    fn of(model: impl Into<String>, truth: &[f64], predicted: &[f64]) -> Self {
        Score {
            model: model.into(),
            mae: mean_absolute_error(truth, predicted),
            r2: r_squared(truth, predicted),
            spearman: spearman(truth, predicted),
            fit_s: None,
            predict_s: None,
        }
    }
}

/// Fits a model, predicts with it, times both steps, and scores the predictions.
fn measured<F>(
    model: impl Into<String>,
    truth: &[f64],
    fit: impl FnOnce() -> Result<F, String>,
    predict: impl FnOnce(F) -> Result<Vec<f64>, String>,
) -> Result<Score, EvaluateError> {
    let model = model.into();
    let failed = |problem| EvaluateError {
        model: model.clone(),
        problem,
    };
    let clock = Instant::now();
    let fitted = fit().map_err(failed)?;
    let fit_s = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    let predicted = predict(fitted).map_err(failed)?;
    let predict_s = clock.elapsed().as_secs_f64();
    Ok(Score {
        fit_s: Some(fit_s),
        predict_s: Some(predict_s),
        ..Score::of(model, truth, &predicted)
    })
}

/// Name of the model with the highest rank correlation; `None` if no correlation is defined.
fn best<'s>(scores: impl IntoIterator<Item = &'s Score>) -> Option<String> {
    let ranks = scores
        .into_iter()
        .filter(|score| score.spearman.is_finite());
    let best = ranks.reduce(|a, b| if b.spearman > a.spearman { b } else { a });
    best.map(|score| score.model.clone())
}

/// The training rows, and the test rows to predict.
struct Split<'t> {
    train: &'t Table,
    test: &'t Table,
    /// Labels of the training rows.
    labels: &'t [f64],
    /// True values of the test rows, in the unit of the scores.
    truth: &'t [f64],
    /// Converts predicted labels to the unit of `truth`.
    unit: fn(f64) -> f64,
    parts: &'t Parts<'t>,
}

impl Split<'_> {
    fn in_unit(&self, predicted: Vec<f64>) -> Vec<f64> {
        predicted.into_iter().map(self.unit).collect()
    }

    fn ebm(&self, name: &str, settings: Settings) -> Result<Score, EvaluateError> {
        let work = settings.work(self.train.rows(), self.train.columns().len());
        let part = self.parts.part(work);
        let fit = || Ebm::fit_observed(self.train, self.labels, &settings, &part);
        let score = measured(
            name,
            self.truth,
            || fit().map_err(|error| error.to_string()),
            |ebm| {
                let predicted = ebm.predict(self.test).map_err(|error| error.to_string());
                Ok(self.in_unit(predicted?))
            },
        );
        if score.is_ok() {
            part.complete();
        }
        score
    }

    /// Scores every model from a library. Reports `work` units of progress after each model.
    #[cfg(feature = "baselines")]
    fn baselines(&self, suffix: &str, seed: u64, work: usize) -> Result<Vec<Score>, EvaluateError> {
        use gleaner_learn::baselines::Baseline;
        use gleaner_learn::ebm::FitError;

        let mut scores = Vec::new();
        for baseline in Baseline::ALL {
            let name = format!("{}{suffix}", baseline.name());
            if self.parts.observer().is_stopped() {
                return Err(EvaluateError {
                    model: name,
                    problem: FitError::Stopped.to_string(),
                });
            }
            scores.push(measured(
                name,
                self.truth,
                || {
                    let fitted = baseline.fit(self.train, self.labels, seed);
                    fitted.map_err(|error| error.to_string())
                },
                |fitted| {
                    let predicted = fitted.predict(self.test);
                    Ok(self.in_unit(predicted.map_err(|error| error.to_string())?))
                },
            )?);
            self.parts.add(work);
        }
        Ok(scores)
    }

    #[cfg(not(feature = "baselines"))]
    fn baselines(
        &self,
        _suffix: &str,
        _seed: u64,
        _work: usize,
    ) -> Result<Vec<Score>, EvaluateError> {
        Ok(Vec::new())
    }
}

/// Number of models from libraries among the results.
#[cfg(feature = "baselines")]
pub const BASELINES: usize = gleaner_learn::baselines::Baseline::ALL.len();
/// Number of models from libraries among the results: 0 without the feature `baselines`.
#[cfg(not(feature = "baselines"))]
pub const BASELINES: usize = 0;

/// Scores of two constant predictions: the mean and the median of the training labels.
fn constants(labels: &[f64], truth: &[f64]) -> [Score; 2] {
    let always = |name: &str, value: f64| Score::of(name, truth, &vec![value; truth.len()]);
    [
        always("training mean", mean(labels)),
        always("training median", median(labels)),
    ]
}
