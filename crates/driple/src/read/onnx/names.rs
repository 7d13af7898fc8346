//! Names of nodes, and the node that each value comes from.

use std::collections::{BTreeMap, BTreeSet};

use super::message::{Graph, Node};

/// The maximum number of characters of a node's name. The limit keeps the memory proportional to
/// the size of the file. A file refers to a node by the names of its values, which may be much
/// shorter than the node's name. Without the limit, many short references in a small file could
/// expand to many copies of a long name.
const LENGTH: usize = 250;

/// The node names in use so far.
#[derive(Default)]
pub(super) struct Names {
    taken: BTreeSet<String>,
    /// For each name that was requested more than once, the last number that was appended to it.
    last: BTreeMap<String, usize>,
}

impl Names {
    /// Returns a name that no node has yet: `name`, or `name` followed by a number.
    ///
    /// `:` and `^` have special meanings in references to nodes, so they are replaced with `_`. Long names are
    /// truncated.
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

/// For each value, a reference to the node that it comes from.
#[derive(Default)]
pub(super) struct Values<'g>(BTreeMap<&'g str, String>);

impl<'g> Values<'g> {
    pub(super) fn contains(&self, value: &str) -> bool {
        self.0.contains_key(value)
    }

    pub(super) fn get(&self, value: &str) -> Option<&str> {
        self.0.get(value).map(String::as_str)
    }

    /// Adds a value. Returns false if there is already a value with this name.
    pub(super) fn insert(&mut self, value: &'g str, reference: String) -> bool {
        self.0.insert(value, reference).is_none()
    }
}

/// A reference to an output of a node, in TensorFlow's notation. Outputs are numbered from 0.
pub(super) fn reference(node: &str, output: usize) -> String {
    match output {
        0 => node.to_owned(),
        output => format!("{node}:{output}"),
    }
}

/// The names of the values that the graphs in a node's attributes use but do not define, sorted.
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

/// Adds to `values` the names that `graph` uses but does not define. Recurses into graphs in its
/// nodes' attributes. The decoder limits the nesting depth of these graphs.
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
