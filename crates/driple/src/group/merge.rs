//! Merges each group of operations into one node.

use std::collections::BTreeSet;

use super::{Adjacency, Communities, GroupError, Report};
use crate::features::tensor_size;
use crate::graph::{Graph, GroupedGraph, Node};

/// The sums over the operations of a group.
#[derive(Clone, Default)]
struct Sums {
    /// The number of elements. A sum of up to 2³² sizes, each below 2⁶⁴, does not overflow 128
    /// bits.
    elements: u128,
    /// The number of operations.
    ops: u32,
}

/// The grouped graph, with frequencies of 0. For each vertex of `adjacency`, `ops` holds the index
/// of the vertex's node in the file.
pub(super) fn merge(
    graph: &Graph,
    ops: &[usize],
    adjacency: &Adjacency,
    found: &Communities,
    report: &mut Report,
) -> Result<GroupedGraph, GroupError> {
    let mut sums = vec![Sums::default(); found.count];
    for (&op, &group) in ops.iter().zip(&found.of) {
        sums[group as usize].add(&graph.nodes[op], report)?;
    }
    Ok(GroupedGraph {
        features: sums.iter().map(Sums::features).collect(),
        edges: edges(adjacency, &found.of),
    })
}

impl Sums {
    fn add(&mut self, node: &Node, report: &mut Report) -> Result<(), GroupError> {
        let size = tensor_size(&node.shape).map_err(|fault| GroupError::Size {
            node: node.name.clone(),
            fault,
        })?;
        report.unknown_shapes += usize::from(size.unknown_rank);
        report.unknown_dimensions += usize::from(size.unknown_dimensions > 0);
        self.elements += u128::from(size.elements);
        self.ops += 1;
        Ok(())
    }

    /// The features of the group. The elements are first converted to 64-bit floats, as in the
    /// published builder.
    fn features(&self) -> [f32; 3] {
        [self.elements as f64 as f32, self.ops as f32, 0.0]
    }
}

/// The distinct edges between different groups, in ascending order.
fn edges(adjacency: &Adjacency, group: &[u32]) -> Vec<(u32, u32)> {
    let groups = |(a, b): (u32, u32)| (group[a as usize], group[b as usize]);
    let between = adjacency.edges().map(groups).filter(|(a, b)| a < b);
    between.collect::<BTreeSet<_>>().into_iter().collect()
}
