//! Stores the types of operations until their frequencies are known.

use std::collections::BTreeMap;

use super::Grouping;
use crate::features::Frequencies;

/// A grouped graph whose features still lack the frequencies of operation types. The frequencies
/// are known only after all graphs of a data set have been read. Until then, this struct stores 8
/// bytes per operation instead of the whole graph.
#[derive(Debug, Clone, PartialEq)]
pub struct WithoutFrequencies {
    grouping: Grouping,
    /// The distinct types of the grouped operations.
    types: Vec<String>,
    /// For each grouped operation, in the file's order: the index of its type in `types`, and its
    /// group.
    of: Vec<(u32, u32)>,
    /// For each type, the number of operations on GPUs.
    counts: BTreeMap<String, u64>,
}

impl WithoutFrequencies {
    /// Stores a grouping and the types of its operations. `kinds` yields the type and the group of
    /// each grouped operation. `on_gpus` yields the type of each operation that [`super::Devices`]
    /// selects, including operations that were not grouped.
    pub(super) fn new<'g>(
        grouping: Grouping,
        kinds: impl Iterator<Item = (&'g str, u32)>,
        on_gpus: impl Iterator<Item = &'g str>,
    ) -> Self {
        let mut places = BTreeMap::new();
        let mut types = Vec::new();
        let mut of = Vec::new();
        for (kind, group) in kinds {
            let place = *places.entry(kind).or_insert_with(|| {
                types.push(kind.to_owned());
                types.len() as u32 - 1
            });
            of.push((place, group));
        }
        let mut counts = BTreeMap::new();
        on_gpus.for_each(|kind| *counts.entry(kind).or_insert(0) += 1);
        let counts = counts.into_iter();
        WithoutFrequencies {
            grouping,
            types,
            of,
            counts: counts
                .map(|(kind, count)| (kind.to_owned(), count))
                .collect(),
        }
    }

    /// For each type, the number of operations on GPUs. [`Frequencies::of_counts`] expects these
    /// counts.
    pub fn counts(&self) -> impl Iterator<Item = (&str, u64)> {
        self.counts
            .iter()
            .map(|(kind, &count)| (kind.as_str(), count))
    }

    /// Adds the frequencies of operation types to the features. The frequency of a type that is missing from
    /// `frequencies` counts as 0, and the report lists the type.
    #[must_use]
    pub fn weigh(mut self, frequencies: &Frequencies) -> Grouping {
        let known: Vec<Option<f64>> = self
            .types
            .iter()
            .map(|kind| frequencies.get(kind))
            .collect();
        // The frequencies are summed as 64-bit floats and in the file's order, as in the published
        // builder.
        let mut sums = vec![0.0; self.grouping.graph.len()];
        let mut unknown = vec![0_usize; self.types.len()];
        for &(kind, group) in &self.of {
            match known[kind as usize] {
                Some(frequency) => sums[group as usize] += frequency,
                None => unknown[kind as usize] += 1,
            }
        }
        for (features, sum) in self.grouping.graph.features.iter_mut().zip(sums) {
            features[2] = sum as f32;
        }
        let missing = self.types.into_iter().zip(unknown);
        self.grouping.report.without_frequency = missing.filter(|(_, count)| *count > 0).collect();
        self.grouping
    }
}
