//! The nodes of a machine, by name and by index.

use std::cmp::Ordering;

use indexmap::IndexSet;

use super::hostlist::{self, HostlistError};
use crate::occupancy::{Run, to_runs};

/// Most nodes of a machine: a million, several times the largest there is.
pub(super) const MAX_NODES: usize = 1 << 20;

/// Names of nodes: those of a given machine, or whichever a log names.
#[derive(Debug, Default)]
pub(super) struct NodeSet {
    names: IndexSet<String>,
    /// Whether the machine is known, and other names are no nodes of it.
    fixed: bool,
    indexes: Vec<u32>,
    runs: Vec<Run>,
}

/// What a list of nodes came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Looked {
    /// How many nodes it names.
    pub named: usize,
    /// How many of them the machine lacks.
    pub unknown: usize,
    /// The first of these.
    pub example: Option<String>,
}

impl NodeSet {
    /// A machine of these nodes.
    pub fn of(names: IndexSet<String>) -> Self {
        NodeSet {
            names,
            fixed: true,
            ..NodeSet::default()
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether other names than the known ones are no nodes of the machine.
    pub fn is_fixed(&self) -> bool {
        self.fixed
    }

    /// The name of a node.
    pub fn name(&self, index: u32) -> &str {
        self.names
            .get_index(index as usize)
            .map_or("?", String::as_str)
    }

    /// Looks up the nodes of some lists; [`NodeSet::runs`] then has them.
    pub fn look_up<'l>(
        &mut self,
        lists: impl IntoIterator<Item = &'l str>,
    ) -> Result<Looked, HostlistError> {
        let mut looked = Looked::default();
        let (names, indexes) = (&mut self.names, &mut self.indexes);
        let open = !self.fixed;
        indexes.clear();
        let mut host = |name: &str| {
            looked.named += 1;
            match index_of(names, name, open) {
                Some(index) => indexes.push(index),
                None => {
                    looked.unknown += 1;
                    looked.example.get_or_insert_with(|| name.to_owned());
                }
            }
        };
        for list in lists {
            hostlist::expand(list, &mut host)?;
        }
        to_runs(&mut self.indexes, &mut self.runs);
        Ok(looked)
    }

    /// The nodes last looked up.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The names in the order of a log, and every index's place in it: the order of the
    /// machine, or else as people count, `n2` before `n10`.
    pub fn ranked(&self) -> (Vec<String>, Vec<u32>) {
        let mut order: Vec<u32> = (0..self.names.len() as u32).collect();
        if !self.fixed {
            order.sort_by(|a, b| as_people_count(self.name(*a), self.name(*b)));
        }
        let mut rank = vec![0; order.len()];
        for (place, index) in (0..).zip(&order) {
            rank[*index as usize] = place;
        }
        let names = order.iter().map(|index| self.name(*index).to_owned());
        (names.collect(), rank)
    }
}

/// A node's index; an unknown one is added where that is `open`.
fn index_of(names: &mut IndexSet<String>, name: &str, open: bool) -> Option<u32> {
    let index = match names.get_index_of(name) {
        Some(index) => index,
        None if open && names.len() < MAX_NODES => names.insert_full(name.to_owned()).0,
        None => return None,
    };
    u32::try_from(index).ok()
}

/// Compares names with their numbers as numbers.
fn as_people_count(a: &str, b: &str) -> Ordering {
    let (mut a_rest, mut b_rest) = (a, b);
    while !a_rest.is_empty() && !b_rest.is_empty() {
        let (a_part, b_part) = (part(&mut a_rest), part(&mut b_rest));
        let key = |text: &str| text.trim_start_matches('0').len();
        let numbers =
            a_part.as_bytes()[0].is_ascii_digit() && b_part.as_bytes()[0].is_ascii_digit();
        let order = match numbers {
            true => key(a_part).cmp(&key(b_part)).then_with(|| {
                a_part
                    .trim_start_matches('0')
                    .cmp(b_part.trim_start_matches('0'))
            }),
            false => a_part.cmp(b_part),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    a_rest.cmp(b_rest).then_with(|| a.cmp(b))
}

/// Takes the longest start of a text that is digits only, or has none.
fn part<'t>(rest: &mut &'t str) -> &'t str {
    let digits = rest.starts_with(|c: char| c.is_ascii_digit());
    let end = rest.find(|c: char| c.is_ascii_digit() != digits);
    let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
    *rest = after;
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_names_nodes_and_they_are_sorted_as_people_count() {
        let mut nodes = NodeSet::default();
        nodes.look_up(["n10,n[2-3]"]).unwrap();
        assert_eq!(nodes.runs(), [Run { first: 0, count: 3 }]);
        nodes.look_up(["n3", "a1", "n3"]).unwrap();
        assert_eq!(nodes.runs(), [Run { first: 2, count: 2 }]);
        let (names, rank) = nodes.ranked();
        assert_eq!(names, ["a1", "n2", "n3", "n10"]);
        assert_eq!(rank, [3, 1, 2, 0]);
    }

    #[test]
    fn a_machine_has_its_own_order_and_no_other_nodes() {
        let machine = ["b", "a"].map(str::to_owned);
        let mut nodes = NodeSet::of(machine.into_iter().collect());
        let looked = nodes.look_up(["a,x,y"]).unwrap();
        let expected = Looked {
            named: 3,
            unknown: 2,
            example: Some("x".to_owned()),
        };
        assert_eq!(looked, expected);
        assert_eq!(nodes.ranked().0, ["b", "a"]);
    }

    #[test]
    fn numbers_in_names_are_numbers() {
        let mut names = ["n10", "n2", "n02", "m3", "n2a", "n", "n1x20", "n1x3"];
        names.sort_by(|a, b| as_people_count(a, b));
        assert_eq!(
            names,
            ["m3", "n", "n1x3", "n1x20", "n02", "n2", "n2a", "n10"]
        );
    }
}
