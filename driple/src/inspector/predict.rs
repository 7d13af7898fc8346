//! Predictions.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::Inspector;
use crate::graph::{GroupedGraph, METRICS};
use crate::nn::{Real, Tape};

/// The most graphs that go through the network together.
const PART: usize = 16;

impl Inspector {
    /// The metrics of each graph, in [`crate::dataset::METRIC_NAMES`] order and their own units; where
    /// the card has no scale, as shares of maxima that are not known. Of a graph without nodes, none.
    #[must_use]
    pub fn predict(&self, graphs: &[&GroupedGraph]) -> Vec<Option<[f64; METRICS]>> {
        let mut by_size: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, graph) in graphs
            .iter()
            .enumerate()
            .filter(|(_, graph)| !graph.is_empty())
        {
            by_size.entry(graph.len()).or_default().push(index);
        }
        let parts: Vec<&[usize]> = by_size
            .values()
            .flat_map(|equal| equal.chunks(PART))
            .collect();
        let predicted = parts.par_iter().map(|part| {
            let chosen: Vec<&GroupedGraph> = part.iter().map(|&index| graphs[index]).collect();
            self.predict_equal(&chosen)
        });
        let predicted: Vec<Vec<[f64; METRICS]>> = predicted.collect();
        let mut all = vec![None; graphs.len()];
        for (&index, metrics) in parts
            .into_iter()
            .flatten()
            .zip(predicted.into_iter().flatten())
        {
            all[index] = Some(metrics);
        }
        all
    }

    /// The metrics of graphs of equal size.
    fn predict_equal(&self, graphs: &[&GroupedGraph]) -> Vec<[f64; METRICS]> {
        let layout = self
            .network
            .lay_out(graphs.iter().copied(), &self.card.inputs);
        let mut tape = Tape::without_gradients(&self.parameters);
        let output = self.network.apply(&mut tape, &layout);
        let row = |row: ndarray::ArrayView1<'_, f32>| {
            let metrics = std::array::from_fn(|metric| row[metric].as_f64());
            self.card
                .scale
                .map_or(metrics, |scale| scale.multiply(metrics))
        };
        tape.value(output).rows().into_iter().map(row).collect()
    }
}
