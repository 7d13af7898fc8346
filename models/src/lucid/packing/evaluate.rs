//! How far scores can be trusted.

use serde::Serialize;

use super::{Features, Profile, SETTINGS, Shared, scores};
use crate::metrics::{accuracy, confusion, mean};
use crate::tree::validate::{Splits, leave_one_out, random_splits};
use crate::tree::{Tree, TreeError};

/// Random splits of an evaluation, and the share of rows that each predicts.
const SPLITS: usize = 200;
const TEST_SHARE: f64 = 0.3;

/// How well the model predicts scores that it has not seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// What the model goes by.
    pub features: Features,
    /// By profile, its score by a tree grown on all others.
    pub left_out: Vec<u8>,
    /// By profile, its score by a tree grown on all, itself among them: what the trained model
    /// answers, which says nothing of how far it can be trusted.
    pub fitted: Vec<u8>,
    /// Share of profiles whose score is told when they are left out.
    pub accuracy: f64,
    /// Profiles by their score and, within it, by that told when they are left out.
    pub confusion: Vec<Vec<usize>>,
    /// The same share over 200 random splits that leave out 30 %.
    pub splits: Spread,
}

/// Mean and extremes of several figures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation, as of the whole population.
    pub deviation: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
}

impl Spread {
    /// The spread of figures; NaN and infinities of none.
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

/// Evaluates the model on profiles; `seed` is that of the random splits.
///
/// # Errors
/// Where there are fewer than two profiles, not a row of `shared` for each, or a value is
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

/// Share of profiles whose score by measured pairs is the one set by hand.
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
