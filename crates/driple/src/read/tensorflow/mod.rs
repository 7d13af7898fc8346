//! Reads TensorFlow GraphDefs in protobuf's text and binary formats.

pub(super) mod binary;
mod fields;
mod message;
mod node;
mod scalar;
mod scan;
#[cfg(test)]
mod tests;
pub(super) mod text;

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::{NodeFault, Place, ReadError};
use crate::graph::{Graph, Node};

/// The number of nodes that are read in parallel before the results are searched for faults.
const CHUNK: usize = 4096;

/// A node, or the name of a faulty node and its fault.
type Read = Result<Node, (String, NodeFault)>;

/// Reads the graph whose nodes are `blocks`, in the file's order. Returns an error for the first faulty node. `line`
/// returns the line of a node; `None` in binary files.
fn graph<B: Sync>(
    blocks: &[B],
    read: impl Fn(&B) -> Result<Read, ReadError> + Sync,
    line: impl Fn(&B) -> Option<usize>,
) -> Result<Graph, ReadError> {
    let fault = |index: usize, name, fault| {
        let line = line(&blocks[index]);
        let place = Place { name, index, line };
        ReadError::Node { place, fault }
    };
    let mut nodes: Vec<Node> = Vec::new();
    for chunk in blocks.chunks(CHUNK) {
        let chunk: Vec<_> = chunk.par_iter().map(&read).collect();
        for node in chunk {
            let node = node?.map_err(|(name, reason)| fault(nodes.len(), name, reason))?;
            nodes.push(node);
        }
    }
    match duplicate(&nodes) {
        Some((first, second)) => {
            let name = nodes[second].name.clone();
            Err(fault(second, name, NodeFault::Duplicate { first }))
        }
        None => Ok(Graph { nodes }),
    }
}

/// Finds the first node that has the name of an earlier node. Returns the indices of both nodes,
/// the earlier one first.
fn duplicate(nodes: &[Node]) -> Option<(usize, usize)> {
    let mut names = BTreeMap::new();
    (nodes.iter().enumerate())
        .find_map(|(index, node)| Some((names.insert(node.name.as_str(), index)?, index)))
}
