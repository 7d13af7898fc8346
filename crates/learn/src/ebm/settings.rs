//! Settings for training an explainable boosting machine.

use serde::{Deserialize, Serialize};

/// Settings of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Factor by which each step is multiplied, above 0 and at most 1.
    pub learning_rate: f64,
    /// The maximum number of rounds. In a round, every term takes one step.
    pub max_rounds: usize,
    /// Number of initial rounds in which cuts are drawn at random instead of being chosen by their
    /// gain (called smoothing rounds in the `interpret` library). With random cuts, nearly equal
    /// features share the effect that they explain. Otherwise, the feature with the best cut would
    /// explain all of it.
    #[serde(default)]
    pub random_rounds: usize,
    /// A bag stops after this number of rounds without progress on its held-out rows. Random rounds
    /// do not count.
    pub patience: usize,
    /// The minimum relative decrease of the held-out rows' squared error that counts as progress,
    /// at least 0 and below 1.
    pub tolerance: f64,
    /// The maximum number of leaves of a step's tree, at least 2.
    pub leaves: usize,
    /// The minimum number of rows in a leaf; 0 counts as 1.
    pub least_in_leaf: u32,
    /// The method of dividing the values of a numeric feature into bins.
    pub binning: Binning,
    /// The maximum number of bins of a numeric feature, between 2 and [`MOST_BINS`]. There is one
    /// additional bin for missing values.
    pub max_bins: usize,
    /// The maximum number of pairs of features that get a term.
    pub interactions: usize,
    /// Number of bags, at least 1. Each bag learns from a different part of the rows, and the bags'
    /// results are averaged.
    pub bags: usize,
    /// Share of the rows that each bag holds out to decide when to stop, above 0 and below 1.
    pub validation: f64,
    /// Seed of the random numbers that choose rows and cuts.
    pub seed: u64,
}

/// The maximum number of bins or categories of a feature. Bin numbers are stored in 16 bits.
pub const MOST_BINS: usize = 65_534;

/// The method of dividing the values of a numeric feature into bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Binning {
    /// About the same number of rows in each bin.
    Quantile,
    /// The same width for each bin.
    Uniform,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            learning_rate: 0.1,
            max_rounds: 5000,
            random_rounds: 0,
            patience: 50,
            tolerance: 1e-4,
            leaves: 3,
            least_in_leaf: 4,
            binning: Binning::Quantile,
            max_bins: 64,
            interactions: 10,
            bags: 14,
            validation: 0.15,
            seed: 0,
        }
    }
}

impl Settings {
    /// An upper bound on the work of a fit, for reporting progress and comparing fits. The unit is
    /// one boosting round of one term on one row.
    pub fn work(&self, rows: usize, features: usize) -> usize {
        let terms = features.saturating_add(self.interactions);
        self.bags.saturating_mul(self.work_of_bag(rows, terms))
    }

    /// An upper bound on the work of one bag with this number of terms, in the unit of
    /// [`Settings::work`].
    pub(super) fn work_of_bag(&self, rows: usize, terms: usize) -> usize {
        let steps = self.max_rounds.saturating_mul(terms);
        steps.saturating_mul(rows)
    }

    /// An error message for the first setting that is out of range; `None` if all settings are
    /// valid.
    pub(super) fn fault(&self) -> Option<String> {
        let share = |value: f64| value > 0.0 && value < 1.0;
        let wrong = [
            (
                !(self.learning_rate > 0.0 && self.learning_rate <= 1.0),
                format!(
                    "the learning rate is {}, expected a number above 0 and at most 1",
                    self.learning_rate
                ),
            ),
            (
                self.leaves < 2,
                format!(
                    "the maximum number of leaves is {}, expected at least 2",
                    self.leaves
                ),
            ),
            (
                !(2..=MOST_BINS).contains(&self.max_bins),
                format!(
                    "the maximum number of bins is {}, expected 2 to {MOST_BINS}",
                    self.max_bins
                ),
            ),
            (
                self.bags == 0,
                "the number of bags is 0, expected at least 1".to_owned(),
            ),
            (
                !share(self.validation),
                format!(
                    "the held-out share is {}, expected a number above 0 and below 1",
                    self.validation
                ),
            ),
            (
                !(self.tolerance >= 0.0 && self.tolerance < 1.0),
                format!(
                    "the tolerance is {}, expected a number that is at least 0 and below 1",
                    self.tolerance
                ),
            ),
        ];
        wrong
            .into_iter()
            .find_map(|(wrong, words)| wrong.then_some(words))
    }
}
