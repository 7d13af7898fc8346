//! The trained machine.

use serde::{Deserialize, Serialize};

use super::bins::{Bins, Feature};
use super::control::Control;
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

/// fᵢ or fᵢⱼ: a score for each cell. On the training rows its mean is 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Term {
    pub(super) axes: Vec<Axis>,
    pub(super) scores: Vec<f64>,
    pub(super) deviations: Vec<f64>,
    pub(super) rows: Vec<u32>,
}

/// A feature as an axis of a term's cells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    pub(super) feature: usize,
    pub(super) groups: Vec<u16>,
    pub(super) size: usize,
}

/// Why a table does not fit a machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// Other features, or in another order.
    #[error("the model was trained on the features {expected:?}, not on {found:?}")]
    Features {
        /// Those of the model.
        expected: Vec<String>,
        /// Those of the table.
        found: Vec<String>,
    },
    /// Numbers for texts, or the reverse.
    #[error("feature {name} was trained on {expected}, which the table's column does not hold")]
    Kind {
        /// The feature.
        name: String,
        /// `numbers` or `texts`.
        expected: &'static str,
    },
}

/// What one term adds to one prediction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contribution {
    /// The feature, or `a & b` for a pair.
    pub term: String,
    /// The bin of each of its features, in words.
    pub bins: Vec<String>,
    /// What it adds.
    pub score: f64,
}

/// One prediction broken down: the intercept and the contributions add up to it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The sum.
    pub prediction: f64,
    /// Mean over the training rows.
    pub intercept: f64,
    /// In the order of the terms.
    pub contributions: Vec<Contribution>,
}

impl Axis {
    /// Each bin by itself.
    pub(super) fn fine(feature: usize, bins: usize) -> Self {
        Axis {
            feature,
            groups: (0..bins as u16).collect(),
            size: bins,
        }
    }

    /// Bins in groups.
    pub(super) fn coarse(feature: usize, groups: &[u16]) -> Self {
        Axis {
            feature,
            groups: groups.to_vec(),
            size: groups.iter().max().map_or(0, |&last| last as usize + 1),
        }
    }

    /// Index of the feature in the machine's.
    pub fn feature(&self) -> usize {
        self.feature
    }

    /// Group of each of the feature's bins.
    pub fn groups(&self) -> &[u16] {
        &self.groups
    }
}

impl Term {
    /// Its one or two axes.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Score of each cell; of a pair, the second axis runs first.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Standard deviation of each score over the bags.
    pub fn deviations(&self) -> &[f64] {
        &self.deviations
    }

    /// Training rows in each cell.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Mean absolute score over the training rows.
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

    /// Cell of a row, whose bins are given by feature.
    fn cell(&self, row: usize, bins: &[Vec<u16>]) -> usize {
        self.axes.iter().fold(0, |cell, axis| {
            cell * axis.size + axis.groups[bins[axis.feature][row] as usize] as usize
        })
    }
}

impl Ebm {
    /// Trains a machine on a label a row.
    ///
    /// Numbers that are NaN or infinite count as missing, as do texts that were not seen in
    /// training. With fewer rows than one can be held out of, the mean is all that is learnt.
    ///
    /// # Errors
    /// Without rows, with labels that are no numbers, or with senseless settings.
    pub fn fit(table: &Table, labels: &[f64], settings: &Settings) -> Result<Self, FitError> {
        Self::fit_under(table, labels, settings, Control::default())
    }

    /// As [`Ebm::fit`], watched and stopped from outside.
    ///
    /// # Errors
    /// As [`Ebm::fit`], and [`FitError::Stopped`].
    pub fn fit_under(
        table: &Table,
        labels: &[f64],
        settings: &Settings,
        control: Control<'_>,
    ) -> Result<Self, FitError> {
        fit::fit(table, labels, settings, control)
    }

    /// The features, in the order in which tables must have them.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// Mean prediction over the training rows.
    pub fn intercept(&self) -> f64 {
        self.intercept
    }

    /// One for each feature, then the pairs, strongest by FAST first.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// What it was trained with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Rows it was trained on.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Rounds of each bag.
    pub fn rounds(&self) -> &[usize] {
        &self.rounds
    }

    /// Name of a term: its feature, or `a & b`.
    pub fn name(&self, term: &Term) -> String {
        let names: Vec<&str> = term
            .axes
            .iter()
            .map(|a| self.features[a.feature].name.as_str())
            .collect();
        names.join(" & ")
    }

    /// A prediction for each row.
    ///
    /// # Errors
    /// Where the table has other features.
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

    /// The prediction for one row, broken down.
    ///
    /// # Errors
    /// Where the table has other features.
    ///
    /// # Panics
    /// Where the table has no such row.
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

    /// By feature, the bin of each row.
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
                    Bins::Categorical { .. } => "texts",
                },
            })
        };
        self.features
            .iter()
            .zip(table.columns())
            .map(index)
            .collect()
    }

    /// Makes the curve of a feature monotone: the nearest monotone one by squares, weighted by
    /// training rows (isotonic regression, as in Lucid's artifact). The score of missing values
    /// stays. `false`, and nothing done, where there is no numeric feature of that name.
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

    /// Moves the mean of every term into the intercept.
    pub(super) fn centred(mut self) -> Self {
        for term in &mut self.terms {
            let mean = term.weighted(|score| score);
            term.scores.iter_mut().for_each(|score| *score -= mean);
            self.intercept += mean;
        }
        self
    }
}
