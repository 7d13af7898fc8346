//! Gradient boosting with the forust library.

use forust_ml::GradientBooster;
use forust_ml::objective::ObjectiveType;

use super::encoding::Matrix;
use super::scale::Scale;
use super::{BaselineError, Predictor};

/// A gradient booster whose settings match LightGBM's `LGBMRegressor`: 100 rounds at a learning rate of 0.1, at least
/// 20 rows in a leaf, 255 bins per feature. The trees differ. In forust, they grow level by level to at most 32 leaves.
/// LightGBM always splits the leaf with the greatest gain, up to 31 leaves. (The forust library also has a best-first
/// order. That order ranks leaves by the error that they already explain, not by the gain of their next split, so it
/// cannot replace LightGBM's order.) If the labels are logarithms of durations, the error is 8 % lower with LightGBM's
/// order than with forust's. For other labels, it is not lower.
pub(super) struct Boosting {
    booster: GradientBooster,
    /// Indices of the features that have at least two different values. The library does not accept
    /// other features.
    used: Vec<usize>,
    label: Scale,
}

impl Boosting {
    pub fn fit(rows: &Matrix, labels: &[f64], seed: u64) -> Result<Self, BaselineError> {
        let label = Scale::of(labels);
        let scaled: Vec<f64> = labels.iter().map(|y| label.apply(*y)).collect();
        let used: Vec<usize> = (0..rows.columns.len())
            .filter(|&k| varies(&rows.columns[k]))
            .collect();
        let mut booster = settings(seed);
        if !used.is_empty() {
            let values = chosen(rows, &used);
            let features = forust_ml::Matrix::new(&values, rows.rows, used.len());
            let weights = vec![1.0; rows.rows];
            booster
                .fit(&features, &scaled, &weights, None)
                .map_err(|error| BaselineError::of("forust")(error.to_string()))?;
        }
        Ok(Boosting {
            booster,
            used,
            label,
        })
    }
}

/// The settings of the library. Predictions start from 0, because scaled labels have a mean of 0.
/// Each row has a weight of 1, so the minimum weight of a leaf is its minimum number of rows.
fn settings(seed: u64) -> GradientBooster {
    GradientBooster::default()
        .set_objective_type(ObjectiveType::SquaredLoss)
        .set_iterations(100)
        .set_learning_rate(0.1)
        .set_max_depth(5)
        .set_min_leaf_weight(20.0)
        .set_l2(0.0)
        .set_nbins(255)
        .set_base_score(0.0)
        .set_initialize_base_score(false)
        .set_seed(seed)
}

fn varies(column: &[f64]) -> bool {
    let mut known = column.iter().filter(|value| !value.is_nan());
    known
        .next()
        .is_some_and(|first| known.any(|value| value != first))
}

/// The values of the `used` features, one feature after another.
fn chosen(rows: &Matrix, used: &[usize]) -> Vec<f64> {
    let columns = used.iter().map(|&k| rows.columns[k].as_slice());
    columns.collect::<Vec<_>>().concat()
}

impl Predictor for Boosting {
    fn predict(&self, rows: &Matrix) -> Result<Vec<f64>, BaselineError> {
        let values = chosen(rows, &self.used);
        let features = forust_ml::Matrix::new(&values, rows.rows, self.used.len());
        let scaled = self.booster.predict(&features, true);
        Ok(scaled.into_iter().map(|z| self.label.undo(z)).collect())
    }
}
