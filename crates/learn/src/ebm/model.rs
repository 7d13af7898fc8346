//! The trained machine.

use gleaner_observer::{Observer, Unobserved};
use serde::{Deserialize, Serialize};

use super::bins::{Bins, Feature};
use super::fit::{self, FitError};
use super::settings::Settings;
use crate::isotonic::{Direction, isotonic};
use crate::table::{Column, Table};

/// A trained explainable boosting machine: y = β₀ + Σ fᵢ(xᵢ) + Σ fᵢⱼ(xᵢ, xⱼ).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "super::stored::Stored")]
pub struct Ebm {
    pub(super) features: Vec<Feature>,
    pub(super) intercept: f64,
    pub(super) terms: Vec<Term>,
    pub(super) settings: Settings,
    pub(super) rows: usize,
    pub(super) rounds: Vec<usize>,
}

/// A term fᵢ or fᵢⱼ: a score for each cell. The scores have a mean of 0 over the training rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Term {
    pub(super) axes: Vec<Axis>,
    pub(super) scores: Vec<f64>,
    pub(super) deviations: Vec<f64>,
    pub(super) rows: Vec<u32>,
}

/// A feature as an axis of a term. In the term of a pair, the feature's bins are merged into
/// groups. In the term of a single feature, each bin is a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    pub(super) feature: usize,
    pub(super) groups: Vec<u16>,
    pub(super) size: usize,
}

/// The reason why a machine cannot predict the labels of a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// The features of the table, or their order, differ from the machine's features.
    #[error("the model was trained on the features {expected:?}, not on {found:?}")]
    Features {
        /// The features of the model.
        expected: Vec<String>,
        /// The features of the table.
        found: Vec<String>,
    },
    /// A column holds numbers where the model was trained on strings, or vice versa.
    #[error(
        "feature {name} was trained on {expected}, but the table's column does not hold {expected}"
    )]
    Kind {
        /// Name of the feature.
        name: String,
        /// The kind of values that the model was trained on: `numbers` or `strings`.
        expected: &'static str,
    },
}

/// The contribution of one term to one prediction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contribution {
    /// Name of the term: its feature, or `a & b` for a pair.
    pub term: String,
    /// For each of the term's features, the label of the bin that contains the row's value.
    pub bins: Vec<String>,
    /// The score that the term adds to the prediction.
    pub score: f64,
}

/// The parts of one prediction: an intercept and contributions, whose sum is the prediction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The predicted label.
    pub prediction: f64,
    /// Mean prediction over the training rows.
    pub intercept: f64,
    /// The contributions, in the order of [`Ebm::terms`].
    pub contributions: Vec<Contribution>,
}

impl Axis {
    /// An axis on which each bin is a group.
    pub(super) fn fine(feature: usize, bins: usize) -> Self {
        Axis {
            feature,
            groups: (0..bins as u16).collect(),
            size: bins,
        }
    }

    /// An axis with merged bins. `groups` holds the group of each bin.
    pub(super) fn coarse(feature: usize, groups: &[u16]) -> Self {
        Axis {
            feature,
            groups: groups.to_vec(),
            size: groups.iter().max().map_or(0, |&last| last as usize + 1),
        }
    }

    /// Index of the feature in [`Ebm::features`].
    pub fn feature(&self) -> usize {
        self.feature
    }

    /// The group of each of the feature's bins.
    pub fn groups(&self) -> &[u16] {
        &self.groups
    }
}

impl Term {
    /// The term's axes: one for a feature, two for a pair.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The score of each cell. In the term of a pair, the second axis varies fastest.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// The standard deviation of each score over the bags.
    pub fn deviations(&self) -> &[f64] {
        &self.deviations
    }

    /// Number of training rows in each cell.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The importance of the term: its mean absolute score over the training rows.
    pub fn importance(&self) -> f64 {
        self.weighted(f64::abs)
    }

    fn weighted(&self, of: impl Fn(f64) -> f64) -> f64 {
        let rows: f64 = self.rows.iter().map(|&rows| f64::from(rows)).sum();
        let sum: f64 = self
            .scores
            .iter()
            .zip(&self.rows)
            .map(|(&s, &n)| of(s) * f64::from(n))
            .sum();
        if rows > 0.0 { sum / rows } else { 0.0 }
    }

    /// The cell of a row. `bins` holds the bin of each row, for each feature.
    fn cell(&self, row: usize, bins: &[Vec<u16>]) -> usize {
        self.axes.iter().fold(0, |cell, axis| {
            cell * axis.size + axis.groups[bins[axis.feature][row] as usize] as usize
        })
    }
}

impl Ebm {
    /// Trains a machine on a table with one label per row.
    ///
    /// NaN and infinite numbers count as missing. If there are too few rows to hold any out, the
    /// machine learns only the mean. In predictions, strings that were not seen in training count
    /// as missing.
    ///
    /// # Errors
    /// There are no rows, or the number of labels differs from the number of rows. A label is NaN
    /// or too large. A feature has too many distinct strings. A setting is out of its range.
    pub fn fit(table: &Table, labels: &[f64], settings: &Settings) -> Result<Self, FitError> {
        Self::fit_observed(table, labels, settings, &Unobserved)
    }

    /// Like [`Ebm::fit`], but reports progress and can be stopped. The unit of progress is one
    /// boosting round of one term on one row. A request to stop takes effect within a few
    /// milliseconds per 100,000 rows. A fit may end before it has reported all units of progress.
    ///
    /// # Errors
    /// Same as [`Ebm::fit`], and [`FitError::Stopped`] if the observer stops the fit.
    pub fn fit_observed(
        table: &Table,
        labels: &[f64],
        settings: &Settings,
        observer: &dyn Observer,
    ) -> Result<Self, FitError> {
        fit::fit(table, labels, settings, observer)
    }

    /// The features, in the order in which tables must contain them.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// Mean prediction over the training rows.
    pub fn intercept(&self) -> f64 {
        self.intercept
    }

    /// The terms: one for each feature, in order, then the pairs, in descending order of their FAST
    /// scores.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The settings that the machine was trained with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Number of rows that the machine was trained on.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of rounds of each bag, for features and pairs together.
    pub fn rounds(&self) -> &[usize] {
        &self.rounds
    }

    /// Name of a term: its feature, or `a & b` for a pair.
    pub fn name(&self, term: &Term) -> String {
        let names: Vec<&str> = term
            .axes
            .iter()
            .map(|a| self.features[a.feature].name.as_str())
            .collect();
        names.join(" & ")
    }

    /// Predicts the label of each row.
    ///
    /// # Errors
    /// The features of the table, or their order, differ from the machine's features. A column
    /// holds numbers where the machine was trained on strings, or vice versa.
    pub fn predict(&self, table: &Table) -> Result<Vec<f64>, Mismatch> {
        let bins = self.index(table)?;
        Ok((0..table.rows()).map(|row| self.sum(row, &bins)).collect())
    }

    fn sum(&self, row: usize, bins: &[Vec<u16>]) -> f64 {
        let scores = self
            .terms
            .iter()
            .map(|term| term.scores[term.cell(row, bins)]);
        self.intercept + scores.sum::<f64>()
    }

    /// Predicts the label of one row, and explains the prediction.
    ///
    /// # Errors
    /// The features of the table, or their order, differ from the machine's features. A column
    /// holds numbers where the machine was trained on strings, or vice versa.
    ///
    /// # Panics
    /// The table has no such row.
    pub fn explain(&self, table: &Table, row: usize) -> Result<Explanation, Mismatch> {
        let bins = self.index(&table.take(&[row]))?;
        let contribution = |term: &Term| Contribution {
            term: self.name(term),
            bins: term
                .axes
                .iter()
                .map(|axis| self.bin(axis.feature, &bins))
                .collect(),
            score: term.scores[term.cell(0, &bins)],
        };
        Ok(Explanation {
            prediction: self.sum(0, &bins),
            intercept: self.intercept,
            contributions: self.terms.iter().map(contribution).collect(),
        })
    }

    fn bin(&self, feature: usize, bins: &[Vec<u16>]) -> String {
        self.features[feature].bins.label(bins[feature][0] as usize)
    }

    /// The bin of each row, for each feature.
    fn index(&self, table: &Table) -> Result<Vec<Vec<u16>>, Mismatch> {
        let names = || self.features.iter().map(|feature| &feature.name);
        if !names().eq(table.names()) {
            return Err(Mismatch::Features {
                expected: names().cloned().collect(),
                found: table.names().to_vec(),
            });
        }
        let index = |(feature, column): (&Feature, &Column)| {
            feature.bins.index(column).ok_or_else(|| Mismatch::Kind {
                name: feature.name.clone(),
                expected: match feature.bins {
                    Bins::Numeric { .. } => "numbers",
                    Bins::Categorical { .. } => "strings",
                },
            })
        };
        self.features
            .iter()
            .zip(table.columns())
            .map(index)
            .collect()
    }

    /// Replaces the curve of a feature with the monotone curve that is nearest to it in least
    /// squares (isotonic regression, as in Lucid's artifact). Each bin is weighted by its number of
    /// training rows. The score of missing values does not change. Returns `false` and changes
    /// nothing if no numeric feature has this name.
    pub fn smooth(&mut self, feature: &str, direction: Direction) -> bool {
        let is = |f: &Feature| f.name == feature && matches!(f.bins, Bins::Numeric { .. });
        let Some(index) = self.features.iter().position(is) else {
            return false;
        };
        let term = &mut self.terms[index];
        let rows: Vec<f64> = term.rows[1..].iter().map(|&rows| f64::from(rows)).collect();
        let smooth = isotonic(&term.scores[1..], &rows, direction);
        term.scores[1..].copy_from_slice(&smooth);
        true
    }

    /// Moves the mean score of every term into the intercept.
    pub(super) fn centred(mut self) -> Self {
        for term in &mut self.terms {
            let mean = term.weighted(|score| score);
            term.scores.iter_mut().for_each(|score| *score -= mean);
            self.intercept += mean;
        }
        self
    }
}
