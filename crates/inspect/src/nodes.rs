//! Nodes that never change state.

use serde::Serialize;

use gleaner_domain::EventLog;

/// Nodes that were in the same state throughout the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnchangedNodes {
    /// Number of nodes.
    pub count: usize,
    /// Names of the nodes, in the log's order.
    pub names: Vec<String>,
}

impl UnchangedNodes {
    fn new(names: Vec<String>) -> Self {
        UnchangedNodes {
            count: names.len(),
            names,
        }
    }
}

/// Nodes that were never idle. They have no changes, because all nodes count as busy before the log.
pub(super) fn never_idle(names: &[String], touched: &[u32]) -> UnchangedNodes {
    let untouched = names
        .iter()
        .zip(touched)
        .filter(|(_, changes)| **changes == 0);
    UnchangedNodes::new(untouched.map(|(name, _)| name.clone()).collect())
}

/// Nodes that become idle at the first row and have no later changes.
pub(super) fn always_idle(log: &EventLog, touched: &[u32]) -> UnchangedNodes {
    if log.is_empty() {
        return UnchangedNodes::new(Vec::new());
    }
    let at_start = log.changes(0).iter().map(|c| c.node() as usize);
    let unchanged = at_start.filter(|&node| touched[node] == 1);
    UnchangedNodes::new(unchanged.map(|node| log.nodes()[node].clone()).collect())
}
