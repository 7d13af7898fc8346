//! Labels as networks learn them.

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use crate::dataset::Example;
use crate::graph::METRICS;
use crate::nn::Real;

/// The highest label of each metric in the training set: networks learn labels divided by it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scale(pub [f64; METRICS]);

impl Scale {
    /// Labels as they are.
    pub const NONE: Self = Self([1.0; METRICS]);

    /// That of a training set. A metric that is never above zero is left as it is.
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

    /// Labels of examples divided by it, a row each.
    pub(super) fn divide<T: Real>(&self, examples: &[&Example]) -> Array2<T> {
        Array2::from_shape_fn((examples.len(), METRICS), |(row, column)| {
            T::of(f64::from(examples[row].labels[column]) / self.0[column])
        })
    }

    /// A prediction of a network in the metrics' own units.
    #[must_use]
    pub fn multiply(&self, prediction: [f64; METRICS]) -> [f64; METRICS] {
        std::array::from_fn(|column| prediction[column] * self.0[column])
    }
}
