//! How well models predict what they have not seen, beside plain rules and models from libraries.

mod throughput;
mod workload;

use std::time::Instant;

use gleaner_models::Table;
use gleaner_models::ebm::{Ebm, Settings};
use gleaner_models::metrics::{mean, mean_absolute_error, median, r_squared, spearman};
use serde::Serialize;

pub use throughput::{ThroughputScores, throughput};
pub use workload::{WorkloadScores, WorkloadTask, workload};

/// A model's predictions of the test rows, measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Score {
    /// The model or rule.
    pub model: String,
    /// Mean absolute error, in the label's unit.
    pub mae: f64,
    /// Coefficient of determination; NaN (null) where the truth is constant.
    pub r2: f64,
    /// Spearman's rank correlation; NaN (null) where predictions are all alike.
    pub spearman: f64,
    /// Seconds of training; none of what is not trained here.
    pub fit_s: Option<f64>,
    /// Seconds of predicting all test rows.
    pub predict_s: Option<f64>,
}

/// A model that failed, and why.
#[derive(Debug, thiserror::Error)]
#[error("{model}: {problem}")]
pub struct EvaluateError {
    /// The model.
    pub model: String,
    /// What it says.
    pub problem: String,
}

impl Score {
    /// The measures of predictions that took no training here.
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

/// Rows to learn from and rows to predict.
struct Split<'t> {
    train: &'t Table,
    test: &'t Table,
    /// Labels of the training rows.
    labels: &'t [f64],
    /// True values of the test rows, in the unit that is measured.
    truth: &'t [f64],
    /// From the label to that unit.
    unit: fn(f64) -> f64,
}

/// A trained model as a rule for test rows.
type Predict = Box<dyn Fn(&Table) -> Result<Vec<f64>, String>>;

impl Split<'_> {
    /// Trains and measures a model.
    fn score(
        &self,
        model: impl Into<String>,
        fit: impl FnOnce() -> Result<Predict, String>,
    ) -> Result<Score, EvaluateError> {
        let model = model.into();
        let failed = |problem| EvaluateError {
            model: model.clone(),
            problem,
        };
        let clock = Instant::now();
        let predict = fit().map_err(failed)?;
        let fit_s = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        let mut predicted = predict(self.test).map_err(failed)?;
        let predict_s = clock.elapsed().as_secs_f64();
        predicted
            .iter_mut()
            .for_each(|value| *value = (self.unit)(*value));
        Ok(Score {
            fit_s: Some(fit_s),
            predict_s: Some(predict_s),
            ..Score::of(model, self.truth, &predicted)
        })
    }

    fn ebm(&self, name: &str, settings: Settings) -> Result<Score, EvaluateError> {
        self.score(name, || {
            let machine = Ebm::fit(self.train, self.labels, &settings);
            let machine = machine.map_err(|error| error.to_string())?;
            Ok(Box::new(move |table: &Table| {
                machine.predict(table).map_err(|error| error.to_string())
            }) as Predict)
        })
    }

    /// Every model from a library.
    #[cfg(feature = "baselines")]
    fn baselines(&self, suffix: &str, seed: u64) -> Result<Vec<Score>, EvaluateError> {
        use gleaner_models::baselines::Baseline;
        let score = |baseline: Baseline| {
            self.score(format!("{}{suffix}", baseline.name()), || {
                let fitted = baseline.fit(self.train, self.labels, seed);
                let fitted = fitted.map_err(|error| error.to_string())?;
                Ok(Box::new(move |table: &Table| {
                    fitted.predict(table).map_err(|error| error.to_string())
                }) as Predict)
            })
        };
        Baseline::ALL.into_iter().map(score).collect()
    }

    #[cfg(not(feature = "baselines"))]
    fn baselines(&self, _suffix: &str, _seed: u64) -> Result<Vec<Score>, EvaluateError> {
        Ok(Vec::new())
    }
}

/// Whether models from libraries are among the results.
pub const BASELINES: bool = cfg!(feature = "baselines");

/// The mean and the median of the training labels for every row.
fn constants(labels: &[f64], truth: &[f64]) -> [Score; 2] {
    let always = |name: &str, value: f64| Score::of(name, truth, &vec![value; truth.len()]);
    [
        always("training mean", mean(labels)),
        always("training median", median(labels)),
    ]
}
