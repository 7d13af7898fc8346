//! Nodes and their holders, in the order in which nodes became idle.

use std::collections::BTreeSet;

use gleaner_domain::NodeClasses;

/// Nodes ordered by arrival: the nodes that have been idle longest come first.
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
    /// For each node, the number of the arrival at which it last became idle.
    arrival: Vec<u32>,
    arrivals: u32,
    /// The class of each node.
    class: Vec<u16>,
    /// For each class, its free nodes: idle nodes that no task holds.
    free: Vec<NodeSet>,
    /// Number of idle nodes of each class, whether held or free.
    idle: Vec<u32>,
}

impl NodePool {
    /// Creates `count` nodes of one class, all busy.
    pub fn new(count: usize) -> Self {
        NodePool {
            holder: vec![Holder::Busy; count],
            arrival: vec![0; count],
            arrivals: 0,
            class: vec![0; count],
            free: vec![NodeSet::default()],
            idle: vec![0],
        }
    }

    /// Creates nodes with these classes, all busy.
    pub fn in_classes(classes: &NodeClasses) -> Self {
        let count = classes.names().len().max(1);
        NodePool {
            class: classes.of_nodes().to_vec(),
            free: vec![NodeSet::default(); count],
            idle: vec![0; count],
            ..NodePool::new(classes.of_nodes().len())
        }
    }

    /// Total number of nodes.
    pub fn len(&self) -> usize {
        self.holder.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.holder.is_empty()
    }

    /// Number of idle nodes of all classes, whether held or free.
    pub fn idle(&self) -> u32 {
        self.idle.iter().sum()
    }

    /// Number of idle nodes of each class, whether held or free.
    pub fn idle_by_class(&self) -> &[u32] {
        &self.idle
    }

    /// The class of `node`.
    pub fn class(&self, node: u32) -> usize {
        self.class[node as usize].into()
    }

    /// The free nodes of a class.
    pub fn free(&self, class: usize) -> &NodeSet {
        &self.free[class]
    }

    /// The holder of `node`.
    pub fn holder(&self, node: u32) -> Holder {
        self.holder[node as usize]
    }

    /// The holder of `node`; `None` if the node does not exist.
    pub fn find(&self, node: u32) -> Option<Holder> {
        self.holder.get(node as usize).copied()
    }

    /// All idle nodes, whether held or free, in the order in which they became idle.
    pub fn idle_nodes(&self) -> Vec<u32> {
        let nodes = (0..).zip(&self.holder);
        let idle = nodes.filter(|(_, holder)| **holder != Holder::Busy);
        let mut idle: Vec<u32> = idle.map(|(node, _)| node).collect();
        idle.sort_unstable_by_key(|node| self.key(*node));
        idle
    }

    /// Records that `node` becomes idle.
    pub fn join(&mut self, node: u32) {
        self.arrival[node as usize] = self.arrivals;
        self.arrivals += 1;
        let (class, key) = (self.class(node), self.key(node));
        self.idle[class] += 1;
        self.holder[node as usize] = Holder::Free;
        self.free[class].0.insert(key);
    }

    /// Records that the free node `node` becomes busy.
    pub fn leave_free(&mut self, node: u32) {
        let (class, key) = (self.class(node), self.key(node));
        self.free[class].0.remove(&key);
        self.leave(node);
    }

    /// Removes a node from a task's nodes `held`, and records that the node becomes busy.
    pub fn leave_held(&mut self, node: u32, held: &mut NodeSet) {
        held.0.remove(&self.key(node));
        self.leave(node);
    }

    fn leave(&mut self, node: u32) {
        let class = self.class(node);
        self.idle[class] -= 1;
        self.holder[node as usize] = Holder::Busy;
    }

    /// Assigns the free node `node` to the task `task`, which holds the nodes `held`.
    pub fn take(&mut self, node: u32, task: u32, held: &mut NodeSet) {
        let (class, key) = (self.class(node), self.key(node));
        self.free[class].0.remove(&key);
        held.0.insert(key);
        self.holder[node as usize] = Holder::Task(task);
    }

    /// Moves `node` from `held`, the nodes of a task, to the free nodes.
    pub fn release(&mut self, node: u32, held: &mut NodeSet) {
        let (class, key) = (self.class(node), self.key(node));
        held.0.remove(&key);
        self.free[class].0.insert(key);
        self.holder[node as usize] = Holder::Free;
    }

    fn key(&self, node: u32) -> (u32, u32) {
        (self.arrival[node as usize], node)
    }
}
