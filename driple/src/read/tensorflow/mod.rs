//! GraphDefs of TensorFlow, in protobuf's text and binary formats.

pub(super) mod binary;
mod keep;
mod message;
mod node;
mod scan;
mod schema;
#[cfg(test)]
mod tests;
pub(super) mod text;

use std::collections::BTreeMap;

use super::{NodeFault, Place, ReadError};
use crate::graph::{Graph, Node};

/// The graph of nodes in the file's order, or the first fault among them.
fn graph(
    nodes: Vec<Result<Node, (String, NodeFault)>>,
    line: impl Fn(usize) -> Option<usize>,
) -> Result<Graph, ReadError> {
    let fault = |index, name, fault| {
        let line = line(index);
        let place = Place { name, index, line };
        Err(ReadError::Node { place, fault })
    };
    let mut read: Vec<Node> = Vec::with_capacity(nodes.len());
    for (index, node) in nodes.into_iter().enumerate() {
        match node {
            Ok(node) => read.push(node),
            Err((name, reason)) => return fault(index, name, reason),
        }
    }
    match duplicate(&read) {
        Some((first, second)) => {
            let name = read[second].name.clone();
            fault(second, name, NodeFault::Duplicate { first })
        }
        None => Ok(Graph { nodes: read }),
    }
}

/// The first node whose name an earlier one has, after that one.
fn duplicate(nodes: &[Node]) -> Option<(usize, usize)> {
    let mut names = BTreeMap::new();
    (nodes.iter().enumerate())
        .find_map(|(index, node)| Some((names.insert(node.name.as_str(), index)?, index)))
}
