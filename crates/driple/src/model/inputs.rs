//! The inputs of a network: the numbers that describe each node.

use serde::{Deserialize, Serialize};

use crate::graph::{FEATURES, GroupedGraph};

/// The number of standardised features: a node's own features and its degree.
const STANDARD: usize = FEATURES + 1;

/// The conversion of node features to network inputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Inputs {
    /// The features, unchanged.
    Raw,
    /// `ln(1 + x)` of each feature and of the degree, standardised with the mean and the standard
    /// deviation over the training nodes.
    Standard {
        /// The means of the logarithms.
        mean: [f64; STANDARD],
        /// The standard deviations of the logarithms; 1 where all values are equal.
        deviation: [f64; STANDARD],
    },
}

impl Inputs {
    /// Computes the conversion to standardised inputs, with the means and standard deviations over
    /// all nodes of `graphs`.
    #[must_use]
    pub fn standard<'g>(graphs: impl IntoIterator<Item = &'g GroupedGraph>) -> Self {
        let rows: Vec<[f64; STANDARD]> = graphs.into_iter().flat_map(logarithms).collect();
        let count = rows.len().max(1) as f64;
        let mut mean = [0.0; STANDARD];
        let mut deviation = [0.0; STANDARD];
        for column in 0..STANDARD {
            mean[column] = rows.iter().map(|row| row[column]).sum::<f64>() / count;
            let squares = rows.iter().map(|row| (row[column] - mean[column]).powi(2));
            // A feature that is the same for all nodes must not be divided by a number near 0.
            let spread = (squares.sum::<f64>() / count).sqrt();
            deviation[column] = if spread > 1e-6 { spread } else { 1.0 };
        }
        Self::Standard { mean, deviation }
    }

    /// The number of network inputs per node.
    #[must_use]
    pub fn width(&self) -> usize {
        match self {
            Self::Raw => FEATURES,
            Self::Standard { .. } => STANDARD,
        }
    }

    /// The inputs of all nodes of a graph, node by node.
    #[must_use]
    pub fn of(&self, graph: &GroupedGraph) -> Vec<f64> {
        match self {
            Self::Raw => graph
                .features
                .iter()
                .flatten()
                .map(|&v| f64::from(v))
                .collect(),
            Self::Standard { mean, deviation } => {
                let scaled = |row: [f64; STANDARD]| {
                    std::array::from_fn::<_, STANDARD, _>(|i| (row[i] - mean[i]) / deviation[i])
                };
                logarithms(graph).into_iter().flat_map(scaled).collect()
            }
        }
    }
}

/// `ln(1 + x)` of the features and of the degree of each node. Features are counts and sums, which
/// cannot be negative, so negative values count as zero.
fn logarithms(graph: &GroupedGraph) -> Vec<[f64; STANDARD]> {
    let mut degrees = vec![0_u32; graph.len()];
    for &(a, b) in &graph.edges {
        degrees[a as usize] += 1;
        degrees[b as usize] += 1;
    }
    let row = |(features, degree): (&[f32; FEATURES], &u32)| {
        let [size, count, kind] = features.map(|value| f64::from(value).max(0.0).ln_1p());
        [size, count, kind, f64::from(*degree).ln_1p()]
    };
    graph.features.iter().zip(&degrees).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // The graph is a path of three nodes. The third feature is constant, so its standardised values
    // are 0.
    #[test]
    fn standardised_inputs_have_mean_zero_and_deviation_one() {
        let features = vec![[0.0, 1.0, 0.5], [10.0, 2.0, 0.5], [1e6, 3.0, 0.5]];
        let graph = GroupedGraph {
            features,
            edges: vec![(0, 1), (1, 2)],
        };
        let inputs = Inputs::standard([&graph]).of(&graph);
        let rows = inputs.as_chunks::<STANDARD>().0;
        for column in 0..STANDARD {
            let values = rows.iter().map(|row| row[column]);
            assert!(values.clone().sum::<f64>().abs() < 1e-9);
            let squares: f64 = values.map(|value| value * value).sum();
            let wanted = if column == 2 { 0.0 } else { 3.0 };
            assert!((squares - wanted).abs() < 1e-9, "{column}: {squares}");
        }
        assert!(rows[1][3] > rows[0][3]);
    }
}
