//! Scales labels for training.

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use crate::dataset::Example;
use crate::graph::METRICS;
use crate::nn::Real;

/// The highest label of each metric in the training set. Networks are trained on labels divided by
/// this scale.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scale(pub [f64; METRICS]);

impl Scale {
    /// A scale that leaves labels unchanged.
    pub const NONE: Self = Self([1.0; METRICS]);

    /// The scale of a training set. It is 1 for a metric without positive labels.
    #[must_use]
    pub fn of<'e>(examples: impl IntoIterator<Item = &'e Example>) -> Self {
        let mut highest = [0.0_f64; METRICS];
        for example in examples {
            for (high, &label) in highest.iter_mut().zip(&example.labels) {
                *high = high.max(f64::from(label));
            }
        }
        Self(highest.map(|high| if high > 0.0 { high } else { 1.0 }))
    }

    /// The labels of examples, divided by the scale, with one row for each example.
    pub(super) fn divide<T: Real>(&self, examples: &[&Example]) -> Array2<T> {
        Array2::from_shape_fn((examples.len(), METRICS), |(row, column)| {
            T::of(f64::from(examples[row].labels[column]) / self.0[column])
        })
    }

    /// Converts a network's prediction to the metrics' own units.
    #[must_use]
    pub fn multiply(&self, prediction: [f64; METRICS]) -> [f64; METRICS] {
        std::array::from_fn(|column| prediction[column] * self.0[column])
    }
}
