//! Converts dense arrays read from data set files to graphs.

use super::Example;
use crate::graph::{FEATURES, GroupedGraph, METRICS};

/// An array read from a file. The last dimension varies fastest.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Array {
    pub shape: Vec<usize>,
    pub values: Vec<f32>,
}

/// The reason why the arrays of a batch are not valid graphs.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayFault {
    /// An array has the wrong shape.
    #[error("the {array} have the shape {found:?}, expected {expected}")]
    Shape {
        /// The name of the array, such as `features`.
        array: &'static str,
        /// The shape of the array.
        found: Vec<usize>,
        /// The shape that the array must have.
        expected: String,
    },
    /// A value is infinite or NaN.
    #[error("graph {graph}: the {array} contain {value}, but must be finite; correct this value")]
    NotFinite {
        /// The name of the array, such as `features`.
        array: &'static str,
        /// Index of the graph in the batch, from 0.
        graph: usize,
        /// The infinite value or NaN.
        value: f32,
    },
    /// An entry of an adjacency matrix is neither 0 nor 1.
    #[error(
        "graph {graph}: the adjacency of nodes {nodes:?} is {value}, but must be 0 or 1, \
         because edges have no weights"
    )]
    NotBinary {
        /// Index of the graph in the batch, from 0.
        graph: usize,
        /// The zero-based row and column of the entry.
        nodes: (usize, usize),
        /// The value of the entry.
        value: f32,
    },
    /// Two nodes are adjacent in one direction only.
    #[error(
        "graph {graph}: nodes {nodes:?} are adjacent in one direction only, but edges are \
         undirected; set both entries of the matrix"
    )]
    OneWay {
        /// Index of the graph in the batch, from 0.
        graph: usize,
        /// The indices of both nodes, from 0.
        nodes: (usize, usize),
    },
    /// An edge leads from a node to itself.
    #[error("graph {graph}: node {node} is adjacent to itself; set the diagonal to 0")]
    Loop {
        /// Index of the graph in the batch, from 0.
        graph: usize,
        /// The index of the node, from 0.
        node: usize,
    },
}

/// Converts the arrays of a batch to examples. The shapes of the arrays are `(B, N, N)` for the
/// adjacency matrices, `(B, N, 3)` for the features and `(B, 12)` for the labels. There must be at
/// least one graph and one node. The number of values in each array must match its shape. The
/// examples have no names.
pub(crate) fn examples(
    adjacency: &Array,
    features: &Array,
    labels: &Array,
) -> Result<Vec<Example>, ArrayFault> {
    let &[graphs, nodes, _] = shape(adjacency, "adjacencies", adjacency_shape(adjacency))?;
    shape(features, "features", [graphs, nodes, FEATURES])?;
    shape(labels, "labels", [graphs, METRICS])?;
    let adjacency = adjacency.values.chunks_exact(nodes * nodes);
    let features = features.values.chunks_exact(nodes * FEATURES);
    let labels = labels.values.chunks_exact(METRICS);
    let arrays = adjacency.zip(features).zip(labels).enumerate();
    let examples = arrays.map(|(graph, ((adjacency, features), labels))| {
        finite(graph, "features", features)?;
        finite(graph, "labels", labels)?;
        Ok(Example {
            name: String::new(),
            graph: GroupedGraph {
                features: features.as_chunks().0.to_vec(),
                edges: edges(graph, nodes, adjacency)?,
            },
            labels: std::array::from_fn(|label| labels[label]),
        })
    });
    examples.collect()
}

/// The shape `[B, N, N]` that the adjacency matrices must have. `B` and `N` are the first two
/// dimensions of `adjacency`. A dimension that is missing or 0 counts as 1.
fn adjacency_shape(adjacency: &Array) -> [usize; 3] {
    let dimension = |at: usize| adjacency.shape.get(at).map_or(1, |&size| size.max(1));
    [dimension(0), dimension(1), dimension(1)]
}

fn shape<'a, const D: usize>(
    array: &'a Array,
    name: &'static str,
    expected: [usize; D],
) -> Result<&'a [usize; D], ArrayFault> {
    match array.shape.first_chunk() {
        Some(shape) if array.shape == expected => Ok(shape),
        _ => Err(ArrayFault::Shape {
            array: name,
            found: array.shape.clone(),
            expected: format!("{expected:?}"),
        }),
    }
}

fn finite(graph: usize, array: &'static str, values: &[f32]) -> Result<(), ArrayFault> {
    match values.iter().find(|value| !value.is_finite()) {
        None => Ok(()),
        Some(&value) => Err(ArrayFault::NotFinite {
            array,
            graph,
            value,
        }),
    }
}

/// The edges of a graph, from its adjacency matrix with `size` rows and columns. The matrix must be symmetric, with
/// entries 0 and 1 and a diagonal of 0.
fn edges(graph: usize, size: usize, matrix: &[f32]) -> Result<Vec<(u32, u32)>, ArrayFault> {
    let mut edges = Vec::new();
    for (a, row) in matrix.chunks_exact(size).enumerate() {
        for (b, &value) in row.iter().enumerate() {
            let nodes = (a, b);
            if value != 0.0 && value != 1.0 {
                return Err(ArrayFault::NotBinary {
                    graph,
                    nodes,
                    value,
                });
            }
            if value != matrix[b * size + a] {
                return Err(ArrayFault::OneWay { graph, nodes });
            }
            if value == 1.0 && a == b {
                return Err(ArrayFault::Loop { graph, node: a });
            }
            if value == 1.0 && a < b {
                edges.push((a as u32, b as u32));
            }
        }
    }
    Ok(edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(shape: &[usize], values: Vec<f32>) -> Array {
        Array {
            shape: shape.to_vec(),
            values,
        }
    }

    fn read(adjacency: [f32; 4]) -> Result<Vec<Example>, ArrayFault> {
        let features = array(&[1, 2, 3], (0..6).map(|value| value as f32).collect());
        let labels = array(&[1, 12], vec![1.0; 12]);
        examples(&array(&[1, 2, 2], adjacency.to_vec()), &features, &labels)
    }

    #[test]
    fn edges_are_listed_once() {
        let read = read([0.0, 1.0, 1.0, 0.0]).unwrap();
        assert_eq!(read[0].graph.edges, [(0, 1)]);
        assert_eq!(read[0].graph.features[1], [3.0, 4.0, 5.0]);
    }

    #[test]
    fn matrices_other_than_of_undirected_graphs_are_refused() {
        let fault = |matrix| read(matrix).unwrap_err().to_string();
        assert!(fault([0.0, 1.0, 0.0, 0.0]).contains("nodes (0, 1) are adjacent in one direction"));
        assert!(fault([0.0, 0.5, 0.5, 0.0]).contains("nodes (0, 1) is 0.5"));
        assert!(fault([0.0, 0.0, 0.0, 1.0]).contains("node 1 is adjacent to itself"));
        assert!(fault([f32::NAN, 0.0, 0.0, 0.0]).contains("is NaN"));
    }

    #[test]
    fn shapes_must_agree_and_not_be_empty() {
        let zeros = |shape: &[usize]| array(shape, vec![0.0; shape.iter().product()]);
        let read = |adjacency: &[usize], features: &[usize], labels: &[usize]| {
            examples(&zeros(adjacency), &zeros(features), &zeros(labels)).is_ok()
        };
        assert!(read(&[2, 3, 3], &[2, 3, 3], &[2, 12]));
        assert!(!read(&[2, 3, 4], &[2, 3, 3], &[2, 12]));
        assert!(!read(&[2, 3, 3], &[3, 2, 3], &[2, 12]));
        assert!(!read(&[2, 3, 3], &[2, 3, 3], &[2, 11]));
        assert!(!read(&[0, 3, 3], &[0, 3, 3], &[0, 12]));
        assert!(!read(&[2, 0, 0], &[2, 0, 3], &[2, 12]));
        assert!(!read(&[2], &[2, 3, 3], &[2, 12]));
        assert!(!read(&[], &[], &[]));
        assert!(!read(&[2, 3, 3, 1], &[2, 3, 3], &[2, 12]));
    }
}
