//! Chooses the nodes of the event log from the nodes that polls name.

use super::reader::Poll;
use super::states::StateClass;
use crate::scheduler::NodeSet;
use gleaner_domain::words::counted;

/// The nodes of the event log.
///
/// Without a list of nodes, the machine consists of the nodes that polls name. Polls that list only idle nodes omit
/// nodes that are always busy. However, they name some nodes that are never idle, such as nodes that stay powered down.
/// For such polls, the event log has only the nodes that are idle at some time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Machine {
    /// For every node that polls name, its index in the event log before the nodes are sorted; `None`
    /// if the event log leaves it out.
    pub places: Vec<Option<u32>>,
    /// Whether nodes that are never idle were left out.
    is_partial: bool,
}

/// The nodes that polls show as idle. They are collected only if polls list only idle nodes.
#[derive(Default)]
pub(super) struct IdleNodes {
    are_idle: Vec<bool>,
    /// Whether polls list only idle nodes.
    is_partial: bool,
}

impl IdleNodes {
    /// Records the nodes that a poll shows as idle. `is_idle` decides whether a class counts as idle.
    pub fn take(&mut self, poll: &Poll<'_>, is_idle: impl Fn(StateClass) -> bool) {
        self.is_partial = poll.others.is_some();
        if self.is_partial {
            for (node, _) in poll.nodes.iter().filter(|(_, class)| is_idle(*class)) {
                let index = *node as usize;
                let length = self.are_idle.len().max(index + 1);
                self.are_idle.resize(length, false);
                self.are_idle[index] = true;
            }
        }
    }

    /// Returns the machine. Must be called after all polls have been read.
    pub fn machine(&self, nodes: &NodeSet) -> Machine {
        let is_partial = self.is_partial && !nodes.is_fixed();
        let is_kept = |node: usize| !is_partial || self.are_idle.get(node) == Some(&true);
        let mut next = 0..;
        let places = (0..nodes.len()).map(|node| is_kept(node).then(|| next.next()).flatten());
        Machine {
            places: places.collect(),
            is_partial,
        }
    }
}

impl Machine {
    /// Whether the event log would have no nodes.
    pub fn is_empty(&self) -> bool {
        self.places.iter().all(Option::is_none)
    }

    /// The names of the nodes in the order of the event log, and the position of each node in that order.
    pub fn ranked(&self, nodes: &NodeSet) -> (Vec<String>, Vec<u32>) {
        let (mut names, rank) = nodes.ranked();
        let kept = self.places.iter().zip(rank);
        let mut kept: Vec<(u32, u32)> = kept
            .filter_map(|(place, rank)| place.map(|place| (rank, place)))
            .collect();
        kept.sort_unstable();
        let mut places = vec![0; kept.len()];
        for (place, (_, index)) in (0..).zip(&kept) {
            places[*index as usize] = place;
        }
        let named = kept.iter();
        let named = named.map(|(rank, _)| std::mem::take(&mut names[*rank as usize]));
        (named.collect(), places)
    }

    /// The note on a machine for which the user gave no list of nodes.
    pub fn note(&self, nodes: usize) -> String {
        let which = if self.is_partial {
            "that polls show as idle"
        } else {
            "that polls name"
        };
        let nodes = counted(nodes, "node");
        format!(
            "the machine is assumed to consist of the {nodes} {which}; list all nodes with --nodes FILE"
        )
    }
}
