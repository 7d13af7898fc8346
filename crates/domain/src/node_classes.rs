//! Classes of nodes, such as types of GPU nodes.

use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of classes in a log.
pub const MAX_CLASSES: usize = 1000;

/// A list of class names. A class is referred to by its index in the list.
#[derive(Debug, Default)]
pub struct ClassNames {
    index: BTreeMap<String, u16>,
    names: Vec<String>,
}

impl ClassNames {
    /// Returns the index of a class, and adds the class if it is new. Returns `None` if the class is new and there are
    /// already [`MAX_CLASSES`] classes.
    pub fn add(&mut self, name: &str) -> Option<u16> {
        if let Some(class) = self.index.get(name) {
            return Some(*class);
        }
        let class = u16::try_from(self.names.len()).ok()?;
        if usize::from(class) == MAX_CLASSES {
            return None;
        }
        self.index.insert(name.to_owned(), class);
        self.names.push(name.to_owned());
        Some(class)
    }

    /// The name of a class.
    pub fn of(&self, class: u16) -> &str {
        &self.names[usize::from(class)]
    }

    /// All names, in the order in which they were added.
    pub fn all(&self) -> &[String] {
        &self.names
    }
}

/// The class of each node of a log. Nodes of a class are interchangeable for training.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodeClasses {
    names: Vec<String>,
    of_node: Vec<u16>,
}

impl NodeClasses {
    /// Creates the classes with these names. `of_node` contains the index of each node's class, in the order of the
    /// log's nodes. A class may have no nodes.
    ///
    /// Returns `None` if a name is empty or occurs twice, if there are more than [`MAX_CLASSES`] classes, or if an
    /// index is out of range.
    pub fn new(names: Vec<String>, of_node: Vec<u16>) -> Option<Self> {
        let distinct: BTreeSet<&String> = names.iter().filter(|name| !name.is_empty()).collect();
        let is_valid = distinct.len() == names.len()
            && names.len() <= MAX_CLASSES
            && of_node
                .iter()
                .all(|class| usize::from(*class) < names.len());
        is_valid.then_some(NodeClasses { names, of_node })
    }

    /// Creates classes from the name of each node's class, in the order of the log's nodes. The classes are in the order
    /// in which they first occur.
    ///
    /// Returns `None` if a name is empty or there are more than [`MAX_CLASSES`] classes.
    pub fn of_names<'a>(class_of_node: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut names = ClassNames::default();
        let of_node: Option<Vec<u16>> = class_of_node
            .into_iter()
            .map(|name| names.add(name))
            .collect();
        NodeClasses::new(names.names, of_node?)
    }

    /// Names of the classes. A class is referred to by its index in this list.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The class of each node, in the order of the log's nodes.
    pub fn of_nodes(&self) -> &[u16] {
        &self.of_node
    }

    /// The class of a node.
    ///
    /// # Panics
    /// There is no such node.
    pub fn of(&self, node: u32) -> usize {
        self.of_node[node as usize].into()
    }

    /// Number of nodes in each class.
    pub fn sizes(&self) -> Vec<u32> {
        let mut sizes = vec![0; self.names.len()];
        for &class in &self.of_node {
            sizes[usize::from(class)] += 1;
        }
        sizes
    }

    /// The classes of a range of nodes. The names of all classes are kept.
    pub fn cut(&self, nodes: std::ops::Range<usize>) -> Self {
        NodeClasses {
            names: self.names.clone(),
            of_node: self.of_node[nodes].to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_in_the_order_of_their_first_node() {
        let classes = NodeClasses::of_names(["v100", "a100", "v100"]).unwrap();
        assert_eq!(classes.names(), ["v100", "a100"]);
        assert_eq!(classes.of_nodes(), [0, 1, 0]);
        assert_eq!(classes.sizes(), [2, 1]);
        assert_eq!(classes.cut(1..2).sizes(), [0, 1]);
    }

    #[test]
    fn names_and_indices_are_checked() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        assert!(NodeClasses::new(names(&["a", "b"]), vec![0, 1, 1]).is_some());
        assert!(NodeClasses::new(names(&["a", "a"]), vec![0]).is_none());
        assert!(NodeClasses::new(names(&["a", ""]), vec![0]).is_none());
        assert!(NodeClasses::new(names(&["a"]), vec![1]).is_none());
    }
}
