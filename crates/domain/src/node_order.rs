//! Orders of nodes, which are identified by their names.

use std::collections::BTreeMap;

/// Names of nodes in an order, such as the order of a network's switches. Each name occurs once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodeOrder {
    places: BTreeMap<String, u32>,
}

impl NodeOrder {
    /// Appends a node to the order.
    ///
    /// # Errors
    /// The order already contains the node. The error is the node's place.
    pub fn push(&mut self, name: &str) -> Result<(), u32> {
        match self.place(name) {
            Some(place) => Err(place),
            None => {
                self.places.insert(name.to_owned(), self.len() as u32);
                Ok(())
            }
        }
    }

    /// The place of a node, from 0; `None` if the order does not contain the node.
    pub fn place(&self, name: &str) -> Option<u32> {
        self.places.get(name).copied()
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether the order contains no nodes.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The names in order.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<(&u32, &String)> = self.places.iter().map(|(n, at)| (at, n)).collect();
        names.sort_unstable();
        names.into_iter().map(|(_, name)| name.as_str()).collect()
    }
}

impl<'n> FromIterator<&'n str> for NodeOrder {
    /// A repeated name keeps its first place.
    fn from_iter<I: IntoIterator<Item = &'n str>>(names: I) -> Self {
        let mut order = NodeOrder::default();
        for name in names {
            let _ = order.push(name);
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_place() {
        let mut order: NodeOrder = ["b", "a", "b", "c"].into_iter().collect();
        assert_eq!(order.names(), ["b", "a", "c"]);
        assert_eq!((order.place("c"), order.place("d")), (Some(2), None));
        assert_eq!((order.push("a"), order.push("d")), (Err(1), Ok(())));
        assert_eq!(order.len(), 4);
    }
}
