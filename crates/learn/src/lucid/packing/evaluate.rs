//! Measures how well the model predicts sharing scores.

use serde::Serialize;

use super::{Features, Profile, SETTINGS, Shared, scores};
use crate::metrics::{accuracy, confusion, mean};
use crate::tree::validate::{Splits, leave_one_out, random_splits};
use crate::tree::{Tree, TreeError};

/// Number of random splits in an evaluation.
const SPLITS: usize = 200;

/// Share of test rows in each split.
const TEST_SHARE: f64 = 0.3;

/// The results of an evaluation: how well the model predicts the scores of profiles that it has not
/// seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// The features that the model uses.
    pub features: Features,
    /// For each profile, the score that a tree grown on all other profiles predicts.
    pub left_out: Vec<u8>,
    /// For each profile, the score that a tree grown on all profiles predicts. The trained model
    /// returns these scores, but they do not show how well it predicts new profiles.
    pub fitted: Vec<u8>,
    /// Share of profiles whose score is predicted correctly by a tree grown on all other profiles.
    pub accuracy: f64,
    /// Confusion matrix: for each true score and each predicted score, the number of profiles. Each
    /// profile's score is predicted by a tree grown on all other profiles.
    pub confusion: Vec<Vec<usize>>,
    /// The spread of the accuracy over 200 random splits, each with 30 % of the profiles as test
    /// rows.
    pub splits: Spread,
}

/// Mean, standard deviation and extremes of a list of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Arithmetic mean.
    pub mean: f64,
    /// Population standard deviation: the sum of squares is divided by the number of values `n`,
    /// not by `n` − 1.
    pub deviation: f64,
    /// The smallest number.
    pub min: f64,
    /// The largest number.
    pub max: f64,
}

impl Spread {
    /// Computes the spread of numbers. If there are no numbers, the mean and the deviation are NaN
    /// and the extremes are infinite.
    pub fn of(values: &[f64]) -> Self {
        let mean = mean(values);
        let squares = values.iter().map(|value| (value - mean).powi(2));
        Spread {
            mean,
            deviation: (squares.sum::<f64>() / values.len() as f64).sqrt(),
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// Evaluates the model on profiles. `seed` determines the random splits.
///
/// # Errors
/// There are fewer than two profiles, `shared` does not have one row per profile, or a value is
/// infinite.
pub fn evaluate(
    features: Features,
    profiles: &[Profile],
    shared: &[Shared],
    seed: u64,
) -> Result<Evaluation, TreeError> {
    let table = features.table(profiles, shared);
    let scores = scores(profiles);
    let left_out = leave_one_out(&table, &scores, SETTINGS)?;
    let tree = Tree::fit(&table, &scores, SETTINGS)?;
    let splits = Splits {
        number: SPLITS,
        test_share: TEST_SHARE,
        seed,
    };
    Ok(Evaluation {
        features,
        fitted: tree.predict(&table)?,
        accuracy: accuracy(&scores, &left_out),
        confusion: confusion(&scores, &left_out, tree.classes()),
        splits: Spread::of(&random_splits(&table, &scores, SETTINGS, splits)?),
        left_out,
    })
}

/// The share of profiles whose score from measured pairs equals the score that was set by hand.
pub fn agreement(profiles: &[Profile], shared: &[Shared]) -> f64 {
    let measured: Vec<u8> = shared.iter().map(Shared::score).collect();
    accuracy(&scores(profiles), &measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_of_a_few_figures() {
        let spread = Spread::of(&[0.5, 0.7, 0.9, 0.7]);
        assert!((spread.mean - 0.7).abs() < 1e-15);
        assert!((spread.deviation - 0.02f64.sqrt()).abs() < 1e-15);
        assert_eq!((spread.min, spread.max), (0.5, 0.9));
    }
}
