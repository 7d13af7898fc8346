//! The nodes of a machine and their indexes.

use std::collections::BTreeMap;

use super::hostlist::{self, HostlistError, MAX_PRODUCTS};
use super::names::Names;
use crate::occupancy::{NodeRange, merge_ranges};
use gleaner_domain::names::natural_order;

/// Maximum number of nodes of a machine: a million, several times as many as the largest machine
/// has.
pub const MAX_NODES: usize = 1 << 20;

/// The nodes of a machine: those of a given list, or all that a log names.
#[derive(Debug)]
pub struct NodeSet {
    names: Names,
    /// Whether the list of nodes is complete. Other names are then unknown.
    fixed: bool,
    /// The remainder of [`MAX_PRODUCTS`], which all lists share.
    products_left: usize,
    /// Lists whose brackets multiply, with their number of nodes and the ranges they gave. A list
    /// that a log repeats costs its products only once.
    products: BTreeMap<String, (usize, Box<[NodeRange]>)>,
    /// Number of ranges that may still be stored in `products`.
    products_room: usize,
    /// The nodes that were looked up last.
    runs: Vec<NodeRange>,
}

/// Maximum number of ranges that are stored for lists whose brackets multiply: 8 MiB.
const MAX_PRODUCT_RUNS: usize = 1 << 20;

/// The result of looking up lists of nodes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Looked {
    /// Number of nodes that the lists name.
    pub named: usize,
    /// Number of them that are unknown.
    pub unknown: usize,
    /// The name of the first unknown node.
    pub example: Option<String>,
}

impl Default for NodeSet {
    fn default() -> Self {
        NodeSet {
            names: Names::default(),
            fixed: false,
            products_left: MAX_PRODUCTS,
            products: BTreeMap::new(),
            products_room: MAX_PRODUCT_RUNS,
            runs: Vec::new(),
        }
    }
}

impl NodeSet {
    /// Makes the set complete: names that were never looked up are unknown from then on.
    pub fn into_machine(self) -> Self {
        NodeSet {
            fixed: true,
            ..self
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether the list of nodes is complete. Other names are then unknown.
    pub fn is_fixed(&self) -> bool {
        self.fixed
    }

    /// Looks up the nodes of some lists. [`NodeSet::runs`] then returns them. The time depends on
    /// the number of ranges of consecutive nodes and of new nodes, not on the number of all nodes.
    pub fn look_up<'l>(
        &mut self,
        lists: impl IntoIterator<Item = &'l str>,
    ) -> Result<Looked, HostlistError> {
        let mut looked = Looked::default();
        self.runs.clear();
        for list in lists {
            if let Some((named, runs)) = self.products.get(list) {
                looked.named += named;
                self.runs.extend(runs);
            } else {
                self.add(list, &mut looked)?;
            }
        }
        merge_ranges(&mut self.runs);
        Ok(looked)
    }

    /// Looks up one list, and appends its nodes to the ranges.
    fn add(&mut self, list: &str, looked: &mut Looked) -> Result<(), HostlistError> {
        let most = if self.fixed { 0 } else { MAX_NODES };
        let (names, runs) = (&mut self.names, &mut self.runs);
        let before = (self.products_left, runs.len(), looked.clone());
        hostlist::pieces(list, &mut self.products_left, |piece| {
            names.look_up(piece, most, &mut |found| match found {
                Ok(run) => {
                    looked.named += run.count as usize;
                    runs.push(run);
                }
                Err(unknown) => {
                    looked.named += unknown.count;
                    looked.unknown += unknown.count;
                    looked.example.get_or_insert_with(|| unknown.first());
                }
            });
        })?;
        let (left, start, earlier) = before;
        let multiplies = self.products_left < left && looked.unknown == earlier.unknown;
        if multiplies && runs.len() - start <= self.products_room {
            self.products_room -= runs.len() - start;
            let found = (looked.named - earlier.named, runs[start..].into());
            self.products.insert(list.to_owned(), found);
        }
        Ok(())
    }

    /// The nodes that were looked up last, as ranges of indexes.
    pub fn runs(&self) -> &[NodeRange] {
        &self.runs
    }

    /// All names by index.
    pub fn names(&self) -> Vec<String> {
        self.names.spelt()
    }

    /// The names in the order of the event log, and the place of every index in it. The order is
    /// that of the given list; or else numbers are compared by value, so `n2` comes before `n10`.
    pub fn ranked(&self) -> (Vec<String>, Vec<u32>) {
        let mut names = self.names();
        let mut order: Vec<u32> = (0..names.len() as u32).collect();
        if !self.fixed {
            order.sort_by(|a, b| natural_order(&names[*a as usize], &names[*b as usize]));
        }
        let mut rank = vec![0; order.len()];
        for (place, index) in (0..).zip(&order) {
            rank[*index as usize] = place;
        }
        let ordered = order
            .iter()
            .map(|index| std::mem::take(&mut names[*index as usize]));
        (ordered.collect(), rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_a_log_are_sorted_in_natural_order() {
        let mut nodes = NodeSet::default();
        nodes.look_up(["n10,n[2-3]"]).unwrap();
        assert_eq!(nodes.runs(), [NodeRange { first: 0, count: 3 }]);
        nodes.look_up(["n3", "a1", "n3"]).unwrap();
        assert_eq!(nodes.runs(), [NodeRange { first: 2, count: 2 }]);
        let (names, rank) = nodes.ranked();
        assert_eq!(names, ["a1", "n2", "n3", "n10"]);
        assert_eq!(rank, [3, 1, 2, 0]);
    }

    #[test]
    fn a_list_with_several_brackets_is_charged_once() {
        let list = "a[0-99]b[0-9]c1,d[0-9]";
        let mut nodes = NodeSet::default();
        let first = nodes.look_up([list]).unwrap();
        assert_eq!((first.named, nodes.len()), (1010, 1010));
        let (left, runs) = (nodes.products_left, nodes.runs().to_vec());
        assert!(left < MAX_PRODUCTS);
        assert_eq!(nodes.look_up([list]).unwrap(), first);
        assert_eq!((nodes.products_left, nodes.runs()), (left, &runs[..]));
        nodes.products_left = 0;
        assert_eq!(nodes.look_up([list]).unwrap(), first);
        let other = nodes.look_up(["a[0-99]b[0-8]c1"]);
        assert_eq!(other.unwrap_err(), HostlistError::TooManyProducts);
    }

    #[test]
    fn a_machine_keeps_its_order_and_counts_unknown_nodes() {
        let mut nodes = NodeSet::default();
        nodes.look_up(["b,a"]).unwrap();
        let mut nodes = nodes.into_machine();
        let looked = nodes.look_up(["a,x,y"]).unwrap();
        let expected = Looked {
            named: 3,
            unknown: 2,
            example: Some("x".to_owned()),
        };
        assert_eq!(looked, expected);
        assert_eq!(nodes.ranked().0, ["b", "a"]);
    }
}
