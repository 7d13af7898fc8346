//! Names of nodes, and which node puts out which value.

use std::collections::{BTreeMap, BTreeSet};

use super::message::{Graph, Node};

/// The most characters of a node's name. Values have names of their own, so a file could refer to a
/// long one many times in few bytes; what comes of it stays in proportion to the file.
const LENGTH: usize = 250;

/// The names of nodes given so far.
#[derive(Default)]
pub(super) struct Names {
    taken: BTreeSet<String>,
    /// By name, the last number that made it another one.
    last: BTreeMap<String, usize>,
}

impl Names {
    /// A name that no node has yet: the one asked for, or with a number behind it.
    ///
    /// In references to nodes `:` and `^` have a meaning, so names go without. Long names are cut.
    pub(super) fn unique(&mut self, name: &str) -> String {
        let plain = |sign| if matches!(sign, ':' | '^') { '_' } else { sign };
        let name: String = name.chars().take(LENGTH).map(plain).collect();
        let mut unique = name.clone();
        while !self.taken.insert(unique.clone()) {
            let last = self.last.entry(name.clone()).or_default();
            *last += 1;
            unique = format!("{name}_{last}");
        }
        unique
    }
}

/// By value, the reference to the node that puts it out.
#[derive(Default)]
pub(super) struct Values<'g>(BTreeMap<&'g str, String>);

impl<'g> Values<'g> {
    pub(super) fn contains(&self, value: &str) -> bool {
        self.0.contains_key(value)
    }

    pub(super) fn get(&self, value: &str) -> Option<&str> {
        self.0.get(value).map(String::as_str)
    }

    /// Adds a value; no where there is one of the name.
    pub(super) fn insert(&mut self, value: &'g str, reference: String) -> bool {
        self.0.insert(value, reference).is_none()
    }
}

/// TensorFlow's notation for an output of a node, from 0.
pub(super) fn reference(node: &str, output: usize) -> String {
    match output {
        0 => node.to_owned(),
        output => format!("{node}:{output}"),
    }
}

/// The values that the graphs in a node's attributes take from outside of them, ascending.
pub(super) fn captured(node: &Node) -> BTreeSet<&str> {
    let graphs = |node: &Node| {
        !node
            .attribute
            .iter()
            .all(|a| a.g.is_none() && a.graphs.is_empty())
    };
    let mut values = BTreeSet::new();
    if graphs(node) {
        inner(node).for_each(|graph| captured_by(graph, &mut values));
    }
    values
}

/// The graphs in a node's attributes.
fn inner(node: &Node) -> impl Iterator<Item = &Graph> {
    node.attribute
        .iter()
        .flat_map(|attribute| attribute.g.as_deref().into_iter().chain(&attribute.graphs))
}

/// Adds the values that a graph takes from outside. It calls itself for graphs in graphs, whose
/// depth the decoder has bounded.
fn captured_by<'g>(graph: &'g Graph, values: &mut BTreeSet<&'g str>) {
    let mut inside: BTreeSet<&str> = BTreeSet::new();
    inside.extend(graph.input.iter().map(|input| input.name.as_str()));
    inside.extend(graph.initializer.iter().map(|tensor| tensor.name.as_str()));
    inside.extend(
        graph
            .node
            .iter()
            .flat_map(|node| &node.output)
            .map(String::as_str),
    );
    let mut taken: BTreeSet<&str> = BTreeSet::new();
    taken.extend(graph.output.iter().map(|output| output.name.as_str()));
    for node in &graph.node {
        taken.extend(node.input.iter().map(String::as_str));
        inner(node).for_each(|graph| captured_by(graph, &mut taken));
    }
    values.extend(taken.difference(&inside).filter(|value| !value.is_empty()));
}
