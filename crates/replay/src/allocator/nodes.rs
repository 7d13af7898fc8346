//! Nodes and their holders, in the order in which nodes became idle.

use std::collections::BTreeSet;

/// Nodes ordered by arrival: the nodes that have been idle longest come first. Ties are ordered by
/// index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeSet(BTreeSet<(u32, u32)>);

impl NodeSet {
    /// Number of nodes.
    pub fn len(&self) -> u32 {
        self.0.len() as u32
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Node indices, in order of arrival.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().map(|&(_, node)| node)
    }
}

/// Holder of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// The batch scheduler: the node is not idle.
    Busy,
    /// No holder: the node is idle and unused.
    Free,
    /// The task with this index.
    Task(u32),
}

/// All nodes of a log with their holders.
#[derive(Debug, Clone)]
pub struct NodePool {
    holder: Vec<Holder>,
    /// Arrival number of each node's current idle span.
    arrival: Vec<u32>,
    arrivals: u32,
    free: NodeSet,
    idle: u32,
}

impl NodePool {
    /// Creates `count` nodes, all busy.
    pub fn new(count: usize) -> Self {
        NodePool {
            holder: vec![Holder::Busy; count],
            arrival: vec![0; count],
            arrivals: 0,
            free: NodeSet::default(),
            idle: 0,
        }
    }

    /// Number of idle nodes, used or not.
    pub fn idle(&self) -> u32 {
        self.idle
    }

    /// The idle nodes that no task holds.
    pub fn free(&self) -> &NodeSet {
        &self.free
    }

    /// The holder of `node`.
    pub fn holder(&self, node: u32) -> Holder {
        self.holder[node as usize]
    }

    /// The holder of `node`; `None` if the node does not exist.
    pub fn find(&self, node: u32) -> Option<Holder> {
        self.holder.get(node as usize).copied()
    }

    /// Records that `node` becomes idle.
    pub fn join(&mut self, node: u32) {
        self.arrival[node as usize] = self.arrivals;
        self.arrivals += 1;
        self.idle += 1;
        self.holder[node as usize] = Holder::Free;
        self.free.0.insert(self.key(node));
    }

    /// Records that an idle node that no task holds becomes busy.
    pub fn leave_free(&mut self, node: u32) {
        self.free.0.remove(&self.key(node));
        self.leave(node);
    }

    /// Takes a node from `held`, the nodes of a task, and records that it becomes busy.
    pub fn leave_held(&mut self, node: u32, held: &mut NodeSet) {
        held.0.remove(&self.key(node));
        self.leave(node);
    }

    fn leave(&mut self, node: u32) {
        self.idle -= 1;
        self.holder[node as usize] = Holder::Busy;
    }

    /// Moves a free `node` to `task`.
    pub fn take(&mut self, node: u32, task: u32, held: &mut NodeSet) {
        let key = self.key(node);
        self.free.0.remove(&key);
        held.0.insert(key);
        self.holder[node as usize] = Holder::Task(task);
    }

    /// Moves `node` from `held`, the nodes of a task, to the free nodes.
    pub fn release(&mut self, node: u32, held: &mut NodeSet) {
        let key = self.key(node);
        held.0.remove(&key);
        self.free.0.insert(key);
        self.holder[node as usize] = Holder::Free;
    }

    fn key(&self, node: u32) -> (u32, u32) {
        (self.arrival[node as usize], node)
    }
}
