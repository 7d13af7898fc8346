//! The operations on GPUs and the edges between them.

use std::collections::BTreeMap;

use super::{Adjacency, Devices, GroupError};
use crate::graph::Graph;

/// The operations of a graph that are kept.
pub(super) struct Ops {
    /// The positions of the operations in the file, in ascending order.
    pub nodes: Vec<usize>,
    /// The edges between these operations. An operation is numbered by its position in `nodes`.
    pub adjacency: Adjacency,
}

/// The operations that `devices` keeps, and the edges between them.
pub(super) fn on_gpus(graph: &Graph, devices: Devices) -> Result<Ops, GroupError> {
    let nodes: Vec<usize> = devices.nodes(graph).map(|(index, _)| index).collect();
    if nodes.len() >= u32::MAX as usize {
        return Err(GroupError::TooMany(nodes.len()));
    }
    let mut numbers = BTreeMap::new();
    for (number, &node) in nodes.iter().enumerate() {
        let name = graph.nodes[node].name.as_str();
        if numbers.insert(name, number as u32).is_some() {
            return Err(GroupError::Twice(name.to_owned()));
        }
    }
    let mut edges = Vec::new();
    for (number, &node) in nodes.iter().enumerate() {
        let sources = graph.nodes[node].inputs.iter().map(|input| source(input));
        let known = sources.filter_map(|name| numbers.get(name).copied());
        edges.extend(known.map(|source| (source, number as u32)));
    }
    let adjacency = Adjacency::new(nodes.len(), &edges);
    Ok(Ops { nodes, adjacency })
}

/// The name of the operation that an input comes from, according to the rules of the published data
/// sets:
///
/// 1. If the input contains a colon, the name is the text before the first colon.
/// 2. Otherwise, if it contains a `^`, the name is the text after the first character.
/// 3. Otherwise, the name is the whole text.
///
/// Therefore, a control input with a colon keeps its `^` and does not match any operation.
/// TensorFlow never writes such an input.
fn source(input: &str) -> &str {
    if let Some((name, _)) = input.split_once(':') {
        return name;
    }
    if !input.contains('^') {
        return input;
    }
    let mut rest = input.chars();
    rest.next();
    rest.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Node, Shape};

    fn graph(nodes: &[(&str, &str, &[&str])]) -> Graph {
        let node = |&(name, device, inputs): &(&str, &str, &[&str])| Node {
            name: name.to_owned(),
            op: "Op".to_owned(),
            device: device.to_owned(),
            inputs: inputs.iter().map(|&input| input.to_owned()).collect(),
            shape: Shape::None,
        };
        Graph {
            nodes: nodes.iter().map(node).collect(),
        }
    }

    #[test]
    fn sources_follow_the_three_rules_in_turn() {
        assert_eq!(source("a/b:1"), "a/b");
        assert_eq!(source("a:1:2"), "a");
        assert_eq!(source("^a"), "a");
        assert_eq!(source("^a:0"), "^a");
        assert_eq!(source("b^a"), "^a");
        assert_eq!(source("é^"), "^");
        assert_eq!(source("a"), "a");
        assert_eq!(source(""), "");
    }

    #[test]
    fn only_edges_between_operations_on_gpus_are_kept() {
        let graph = graph(&[
            ("a", "/job:w/device:GPU:0", &["c"]),
            ("b", "/device:CPU:0", &["a"]),
            (
                "c",
                "/device:XLA_GPU:1",
                &["a:1", "b", "^a", "^a:0", "nothing"],
            ),
        ]);
        let ops = on_gpus(&graph, Devices::Gpu).unwrap();
        assert_eq!(ops.nodes, [0, 2]);
        assert_eq!(ops.adjacency, Adjacency::new(2, &[(1, 0)]));
    }

    #[test]
    fn graphs_without_devices_can_be_used_whole() {
        let bare = graph(&[("a", "", &[]), ("b", "", &["a"])]);
        assert!(on_gpus(&bare, Devices::Gpu).unwrap().nodes.is_empty());
        let whole = on_gpus(&bare, Devices::GpuOrUnplaced).unwrap();
        assert_eq!(whole.nodes, [0, 1]);
        let placed = graph(&[("a", "", &[]), ("b", "/CPU:0", &["a"])]);
        let none = on_gpus(&placed, Devices::GpuOrUnplaced).unwrap();
        assert!(none.nodes.is_empty());
    }

    #[test]
    fn a_duplicate_operation_name_is_refused() {
        let graph = graph(&[("a", "GPU", &[]), ("a", "GPU", &[])]);
        let error = on_gpus(&graph, Devices::Gpu).map(|ops| ops.nodes);
        assert_eq!(error, Err(GroupError::Twice("a".to_owned())));
    }
}
