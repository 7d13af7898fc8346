//! The starts and ends of allocations.

use std::collections::BTreeMap;

use super::Written;
use crate::Findings;
use gleaner_domain::{EventLog, Utc};

/// The start or end of an allocation: a task gets or loses a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) time: Utc,
    /// Whether the task gets the node. At the same time, ends are sorted before starts.
    pub(super) starts: bool,
    /// The node's index in the log.
    pub(super) node: u32,
    pub(super) task: u32,
}

/// The starts and ends of all allocations in chronological order, with the index of each node in
/// the log.
pub(super) fn edges(
    log: &EventLog,
    written: &Written<'_>,
    findings: &mut Findings,
) -> Option<Vec<Edge>> {
    let by_name: BTreeMap<&str, u32> = log.nodes().iter().map(String::as_str).zip(0..).collect();
    let mut nodes = Vec::with_capacity(written.nodes.len());
    for name in written.nodes {
        match by_name.get(name.as_str()) {
            Some(&node) => nodes.push(node),
            None => findings.add(|| format!("allocations: node {name:?} is not in the log")),
        }
    }
    if nodes.len() < written.nodes.len() {
        return None;
    }
    let mut edges = Vec::with_capacity(2 * written.allocations.len());
    for (row, a) in written.allocations.iter().enumerate() {
        findings.holds(a.from < a.to, || {
            let [from, to] = [a.from, a.to].map(|time| time.at_offset(0));
            format!("allocations, row {row}: from is {from}, which is not before to, {to}")
        });
        let (node, task) = (nodes[a.node as usize], a.task);
        for (time, starts) in [(a.from, true), (a.to, false)] {
            edges.push(Edge {
                time,
                starts,
                node,
                task,
            });
        }
    }
    edges.sort_unstable();
    Some(edges)
}
