//! Random forest with the smartcore library.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use smartcore::ensemble::random_forest_regressor::{
    RandomForestRegressor, RandomForestRegressorParameters,
};
use smartcore::error::Failed;
use smartcore::linalg::basic::matrix::DenseMatrix;

use super::encoding::Matrix;
use super::scale::Scale;
use super::{BaselineError, Predictor};

/// A random forest whose settings match scikit-learn's `RandomForestRegressor`: trees of unlimited
/// depth, grown on all features. Missing values are replaced with the mean of the feature.
pub(super) struct Forest {
    /// The forest, divided into smaller forests of equal size, so that threads can share the work.
    parts: Vec<Part>,
    /// For each feature, the value that replaces missing values.
    means: Vec<f64>,
}

type Part = RandomForestRegressor<f64, f64, DenseMatrix<f64>, Vec<f64>>;

const TREES: usize = 100;
const PARTS: usize = 20;

impl Forest {
    pub fn fit(rows: &Matrix, labels: &[f64], seed: u64) -> Result<Self, BaselineError> {
        let columns = rows.columns.iter();
        let means: Vec<f64> = columns.map(|column| Scale::of(column).mean).collect();
        let features = fill(rows, &means)?;
        let labels = labels.to_vec();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let seeds: Vec<u64> = (0..PARTS).map(|_| rng.random()).collect();
        let parts: Result<Vec<Part>, Failed> = seeds
            .into_par_iter()
            .map(|seed| Part::fit(&features, &labels, settings(means.len(), seed)))
            .collect();
        Ok(Forest {
            parts: parts.map_err(error)?,
            means,
        })
    }
}

fn settings(features: usize, seed: u64) -> RandomForestRegressorParameters {
    RandomForestRegressorParameters {
        max_depth: None,
        min_samples_leaf: 1,
        min_samples_split: 2,
        n_trees: TREES / PARTS,
        m: Some(features),
        keep_samples: false,
        seed,
    }
}

impl Predictor for Forest {
    fn predict(&self, rows: &Matrix) -> Result<Vec<f64>, BaselineError> {
        let features = fill(rows, &self.means)?;
        let parts: Result<Vec<Vec<f64>>, Failed> = self
            .parts
            .par_iter()
            .map(|part| part.predict(&features))
            .collect();
        let parts = parts.map_err(error)?;
        let mean = |row: usize| parts.iter().map(|part| part[row]).sum::<f64>() / PARTS as f64;
        Ok((0..rows.rows).map(mean).collect())
    }
}

/// Replaces missing values and converts the rows to the library's matrix.
fn fill(rows: &Matrix, means: &[f64]) -> Result<DenseMatrix<f64>, BaselineError> {
    let known = |(column, mean): (&Vec<f64>, &f64)| {
        let mean = *mean;
        let known = move |value: &f64| if value.is_nan() { mean } else { *value };
        column.iter().map(known).collect::<Vec<_>>()
    };
    let columns = rows.columns.iter().zip(means);
    let values: Vec<f64> = columns.flat_map(known).collect();
    DenseMatrix::new(rows.rows, means.len(), values, true).map_err(error)
}

fn error(failed: Failed) -> BaselineError {
    BaselineError::of("smartcore")(failed.to_string())
}
