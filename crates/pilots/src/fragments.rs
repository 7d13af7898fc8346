//! The lengths of idle fragments, as a histogram.

use std::collections::BTreeMap;

use super::Fault;

/// The lengths of idle fragments, and the number of fragments of each length.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fragments {
    /// Each length and its number of fragments, by ascending length. Neither of the two is ever 0.
    counts: Vec<(u64, u64)>,
    number: u64,
    total: u64,
}

impl Fragments {
    /// Builds the histogram from lengths in any order. Fragments of length 0 are dropped.
    ///
    /// # Errors
    /// [`Fault::TooMuch`] if the sum of all lengths exceeds `u64::MAX`.
    pub fn new(lengths: impl IntoIterator<Item = u64>) -> Result<Self, Fault> {
        let mut counts = BTreeMap::new();
        let (mut number, mut total) = (0, 0u64);
        for length in lengths.into_iter().filter(|&length| length > 0) {
            *counts.entry(length).or_insert(0) += 1;
            number += 1;
            total = total.checked_add(length).ok_or(Fault::TooMuch)?;
        }
        Ok(Fragments {
            counts: counts.into_iter().collect(),
            number,
            total,
        })
    }

    /// Each length and its number of fragments, by ascending length.
    pub fn counts(&self) -> &[(u64, u64)] {
        &self.counts
    }

    /// Number of fragments.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The sum of all lengths.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The longest length; 0 if there are no fragments.
    pub fn longest(&self) -> u64 {
        self.counts.last().map_or(0, |&(length, _)| length)
    }

    /// `part` as a share of the sum of all lengths; 0 if there are no fragments.
    pub fn share(&self, part: u64) -> f64 {
        if self.total == 0 {
            0.0
        } else {
            part as f64 / self.total as f64
        }
    }
}
