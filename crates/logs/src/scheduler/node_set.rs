//! The nodes of a machine and their indexes.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use super::hostlist::{self, HostlistError, MAX_PRODUCTS};
use super::names::Names;
use crate::occupancy::{NodeRange, merge_ranges};
use gleaner_domain::names::natural_order;

/// Maximum number of nodes of a machine: a million, which is several times the size of the largest
/// machine.
pub const MAX_NODES: usize = 1 << 20;

/// The nodes of a machine: the nodes of a given list, or all nodes that a log names.
#[derive(Debug)]
pub struct NodeSet {
    names: Names,
    /// Whether the list of nodes is complete. If so, other names are unknown.
    fixed: bool,
    /// The remainder of [`MAX_PRODUCTS`], which all lists share.
    products_left: usize,
    /// Lists whose brackets were expanded, with their number of nodes and the resulting ranges. A
    /// list that a log repeats is expanded only once.
    products: BTreeMap<String, (usize, Box<[NodeRange]>)>,
    /// Number of ranges that can still be added to `products`.
    products_room: usize,
    /// The nodes that were looked up last.
    runs: Vec<NodeRange>,
    /// For each name that is not known yet, the number of lists of which it was the last name.
    sights: BTreeMap<String, u32>,
    /// The names of a complete list of nodes in alphabetical order, sorted when first needed.
    sorted: OnceCell<Completions>,
}

/// A name that was the last name of this many lists is accepted as a node at once, even if other names begin with it.
/// The decision on a rarer name is made after the last job, so this number limits how many jobs wait for it.
const SIGHTS: u32 = 16;
/// Maximum number of last names that can be in doubt at the same time. Once it is reached, new
/// names are accepted as nodes immediately.
const MOST_DOUBTS: usize = 1 << 16;

/// Maximum number of ranges that are stored for lists whose brackets were expanded. Together, they
/// take 8 MiB.
const MAX_PRODUCT_RUNS: usize = 1 << 20;

/// The result of looking up lists of nodes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Looked {
    /// Number of nodes that the lists name. A known node counts once, even if it is named twice. An unknown node counts
    /// as often as it is named.
    pub named: usize,
    /// Number of these nodes that are unknown.
    pub unknown: usize,
    /// The first name that is not a known node.
    pub example: Option<String>,
    /// The known node that the lists name last.
    pub last: Option<u32>,
    /// The last name, if it may have been cut. It was not looked up.
    pub cut: Option<String>,
    /// Whether the only reason to doubt the last name is that it is not known yet.
    pub is_new: bool,
}

/// Information from the log about the node lists of a job.
#[derive(Debug, Clone, Copy)]
pub struct Stated {
    /// Number of nodes that the job used, if the log states it.
    pub count: Option<usize>,
    /// Whether the lists may have been cut even if they name as many nodes as the job used.
    pub is_suspect: bool,
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
            sights: BTreeMap::new(),
            sorted: OnceCell::new(),
        }
    }
}

impl NodeSet {
    /// Returns the set as a complete list of nodes: from then on, all names that have not been looked up are unknown.
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

    /// Whether the list of nodes is complete. If so, other names are unknown.
    pub fn is_fixed(&self) -> bool {
        self.fixed
    }

    /// Whether a list can be read and names only known nodes.
    pub fn has_all(&self, list: &str) -> bool {
        let mut has_all = true;
        let read = hostlist::expand(list, |name| has_all &= self.names.has(name));
        has_all && read.is_ok()
    }

    /// Looks up the nodes that are named in the lists of a job. Call [`NodeSet::runs`] to get these nodes. The run time
    /// depends on how many new nodes and ranges of consecutive nodes the lists contain, not on the total number of
    /// nodes.
    ///
    /// If the lists name fewer nodes than stated, or are suspect, the last name may be the beginning of a longer name.
    /// In that case, the last name is not looked up but returned as [`Looked::cut`], so that a cut name is not added as
    /// a node. The same applies to a last name that is not known yet, the first few times that it occurs. If the list
    /// of nodes is complete, this second rule applies only if a node's name begins with the last name.
    pub fn look_up<'l>(
        &mut self,
        lists: impl IntoIterator<Item = &'l str>,
        stated: Option<Stated>,
    ) -> Result<Looked, HostlistError> {
        let mut looked = Looked::default();
        self.runs.clear();
        let mut lists = lists.into_iter().peekable();
        while let Some(list) = lists.next() {
            match stated.filter(|_| lists.peek().is_none()) {
                None => self.add_once(list, &mut looked)?,
                Some(stated) => self.add_last(list, stated, &mut looked)?,
            }
        }
        merge_ranges(&mut self.runs);
        looked.named = self.runs_count() + looked.unknown;
        Ok(looked)
    }

    /// Looks up the last list of a job.
    fn add_last(
        &mut self,
        list: &str,
        stated: Stated,
        looked: &mut Looked,
    ) -> Result<(), HostlistError> {
        let (before, Some(last)) = split_last(list) else {
            return self.add_once(list, looked);
        };
        if !before.is_empty() {
            self.add_once(before, looked)?;
        }
        merge_ranges(&mut self.runs);
        let listed = self.runs_count() + looked.unknown + 1;
        let is_short = stated.count.is_some_and(|count| listed < count);
        if is_short || stated.is_suspect {
            looked.cut = Some(last.to_owned());
            return Ok(());
        }
        // If the list of nodes is complete, an unlisted name can be a cut name only if a listed name begins with it.
        // Otherwise, it is a node that is not in the list.
        let may_be_cut = !self.fixed || self.sorted().is_beginning(last);
        if may_be_cut && self.is_doubtful(last) {
            looked.cut = Some(last.to_owned());
            looked.is_new = true;
            return Ok(());
        }
        self.add_once(last, looked)
    }

    /// Whether a last name is not known yet, and has been seen only a few times. Each call counts as a sighting.
    fn is_doubtful(&mut self, name: &str) -> bool {
        if self.names.has(name) {
            return false;
        }
        if self.sights.len() >= MOST_DOUBTS {
            return false;
        }
        let sights = self.sights.entry(name.to_owned()).or_default();
        *sights += 1;
        if *sights < SIGHTS {
            return true;
        }
        self.sights.remove(name);
        false
    }

    /// The names of a complete list of nodes in alphabetical order.
    fn sorted(&self) -> &Completions {
        self.sorted.get_or_init(|| self.completions())
    }

    /// Returns the names sorted alphabetically, for [`Completions::only_one`].
    pub fn completions(&self) -> Completions {
        let mut sorted: Vec<_> = self.names().into_iter().zip(0..).collect();
        sorted.sort_unstable();
        Completions(sorted)
    }

    /// Number of nodes in `runs`.
    fn runs_count(&self) -> usize {
        self.runs.iter().map(|run| run.count as usize).sum()
    }

    /// Looks up one list, and appends its nodes to `runs`. If the brackets of the list were expanded before, reuses the
    /// result.
    fn add_once(&mut self, list: &str, looked: &mut Looked) -> Result<(), HostlistError> {
        if let Some((named, runs)) = self.products.get(list) {
            looked.named += named;
            self.runs.extend(runs);
        } else {
            self.add(list, looked)?;
        }
        if let Some(run) = self.runs.last() {
            looked.last = Some(run.first + run.count - 1);
        }
        Ok(())
    }

    /// Looks up one list that has no stored result, and appends its nodes to `runs`.
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

    /// The names of all nodes, by index.
    pub fn names(&self) -> Vec<String> {
        self.names.spelt()
    }

    /// The names in the order of the event log, and the position of every index in that order. The order is that of the
    /// given list. Without a list, numbers are compared by value, so `n2` comes before `n10`.
    pub fn ranked(&self) -> (Vec<String>, Vec<u32>) {
        if self.fixed {
            return (self.names(), (0..self.len() as u32).collect());
        }
        in_natural_order(self.names())
    }
}

/// Sorts names in natural order. Also returns the position of each name of `names` in the sorted list.
pub fn in_natural_order(mut names: Vec<String>) -> (Vec<String>, Vec<u32>) {
    let mut order: Vec<u32> = (0..names.len() as u32).collect();
    order.sort_by(|a, b| natural_order(&names[*a as usize], &names[*b as usize]));
    let mut rank = vec![0; order.len()];
    for (place, index) in (0..).zip(&order) {
        rank[*index as usize] = place;
    }
    let ordered = order
        .iter()
        .map(|index| std::mem::take(&mut names[*index as usize]));
    (ordered.collect(), rank)
}

/// The names of all nodes in alphabetical order, with their indexes.
#[derive(Debug)]
pub struct Completions(Vec<(String, u32)>);

impl Completions {
    /// The node called `name`, if no other name begins with `name`. For example, suppose that the nodes are `n1`, `n2`
    /// and `n10`. A name that was cut to `n2` can only be `n2`, but a name that was cut to `n1` may be `n10`.
    pub fn only_one(&self, name: &str) -> Option<u32> {
        let Completions(sorted) = self;
        let at = sorted.partition_point(|(other, _)| other.as_str() < name);
        let (found, index) = sorted.get(at).filter(|(found, _)| found == name)?;
        let next = sorted.get(at + 1);
        next.is_none_or(|(next, _)| !next.starts_with(found.as_str()))
            .then_some(*index)
    }

    /// Whether a node is called `name`.
    pub fn has(&self, name: &str) -> bool {
        let found = self
            .0
            .binary_search_by(|(other, _)| other.as_str().cmp(name));
        found.is_ok()
    }

    /// Whether the name of another node begins with `name`.
    pub fn is_beginning(&self, name: &str) -> bool {
        let Completions(sorted) = self;
        let at = sorted.partition_point(|(other, _)| other.as_str() <= name);
        sorted
            .get(at)
            .is_some_and(|(next, _)| next.starts_with(name))
    }
}

/// Splits off the last name of a list, unless that name contains a bracket. For example, `n[1-3],n7` becomes `n[1-3]`
/// and `n7`, but `n7,n[1-3]` is not split.
fn split_last(list: &str) -> (&str, Option<&str>) {
    if list.ends_with(']') {
        return (list, None);
    }
    let (before, last) = list.rsplit_once(',').unwrap_or(("", list));
    let is_plain = !last.is_empty() && !last.contains(['[', ']']);
    // A comma within a bracket that is still open does not end a name.
    let is_closed = before.matches('[').count() == before.matches(']').count();
    if is_plain && is_closed {
        (before, Some(last))
    } else {
        (list, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_a_log_are_sorted_in_natural_order() {
        let mut nodes = NodeSet::default();
        nodes.look_up(["n10,n[2-3]"], None).unwrap();
        assert_eq!(nodes.runs(), [NodeRange { first: 0, count: 3 }]);
        nodes.look_up(["n3", "a1", "n3"], None).unwrap();
        assert_eq!(nodes.runs(), [NodeRange { first: 2, count: 2 }]);
        let (names, rank) = nodes.ranked();
        assert_eq!(names, ["a1", "n2", "n3", "n10"]);
        assert_eq!(rank, [3, 1, 2, 0]);
    }

    #[test]
    fn a_list_with_several_brackets_is_charged_once() {
        let list = "a[0-99]b[0-9]c1,d[0-9]";
        let mut nodes = NodeSet::default();
        let first = nodes.look_up([list], None).unwrap();
        assert_eq!((first.named, nodes.len()), (1010, 1010));
        let (left, runs) = (nodes.products_left, nodes.runs().to_vec());
        assert!(left < MAX_PRODUCTS);
        assert_eq!(nodes.look_up([list], None).unwrap(), first);
        assert_eq!((nodes.products_left, nodes.runs()), (left, &runs[..]));
        nodes.products_left = 0;
        assert_eq!(nodes.look_up([list], None).unwrap(), first);
        let other = nodes.look_up(["a[0-99]b[0-8]c1"], None);
        assert_eq!(other.unwrap_err(), HostlistError::TooManyProducts);
    }

    #[test]
    fn a_machine_keeps_its_order_and_counts_unknown_nodes() {
        let mut nodes = NodeSet::default();
        nodes.look_up(["b,a"], None).unwrap();
        let mut nodes = nodes.into_machine();
        let looked = nodes.look_up(["a,x,y"], None).unwrap();
        let expected = Looked {
            named: 3,
            unknown: 2,
            example: Some("x".to_owned()),
            last: Some(1),
            cut: None,
            is_new: false,
        };
        assert_eq!(looked, expected);
        assert_eq!(nodes.ranked().0, ["b", "a"]);
    }

    #[test]
    fn a_name_that_may_be_cut_makes_no_node() {
        let mut nodes = NodeSet::default();
        let stated = |count| {
            Some(Stated {
                count: Some(count),
                is_suspect: false,
            })
        };
        let looked = nodes.look_up(["n[10-12],n2"], stated(5)).unwrap();
        assert_eq!((looked.named, looked.cut.as_deref()), (3, Some("n2")));
        assert_eq!(nodes.len(), 3);
        // A new last name is in doubt until a list names it in another position or 16 lists end with it.
        let looked = nodes.look_up(["n[10-12],n2"], stated(4)).unwrap();
        assert_eq!(
            (looked.cut.as_deref(), looked.is_new, nodes.len()),
            (Some("n2"), true, 3)
        );
        nodes.look_up(["n2,n10"], stated(2)).unwrap();
        let looked = nodes.look_up(["n[10-12],n2"], stated(4)).unwrap();
        assert_eq!((looked.named, looked.cut, nodes.len()), (4, None, 4));
        let names = nodes.completions();
        let found = ["n2", "n1", "n10", "n13", "o"].map(|name| names.only_one(name));
        assert_eq!(found, [Some(3), None, Some(0), None, None]);
        // A node that a list repeats is counted once.
        assert_eq!(nodes.look_up(["n10,n11,n10"], stated(3)).unwrap().named, 2);
        // The machine has no node `n`, but has nodes whose names begin with `n`.
        let mut machine = nodes.into_machine();
        let looked = machine.look_up(["n10,n"], stated(2)).unwrap();
        assert_eq!((looked.named, looked.cut.as_deref()), (1, Some("n")));
        let looked = machine.look_up(["n10,o"], stated(2)).unwrap();
        assert_eq!((looked.named, looked.unknown, looked.cut), (2, 1, None));
    }

    #[test]
    fn the_last_name_of_a_list_is_split_off() {
        assert_eq!(split_last("n[1-3],n7"), ("n[1-3]", Some("n7")));
        assert_eq!(split_last("n7"), ("", Some("n7")));
        assert_eq!(split_last("n7,n[1-3]"), ("n7,n[1-3]", None));
        assert_eq!(split_last("n[1,2"), ("n[1,2", None));
        assert_eq!(split_last(""), ("", None));
    }
}
