//! Chooses which free nodes a growing task gets, and which nodes a shrinking task releases.
//!
//! A plan fixes how many nodes each task gets, but not which nodes. The batch scheduler takes nodes in blocks, and a
//! task that loses nodes pays once per event, however many of its nodes leave. The same task should therefore hold
//! nodes that are likely to leave together.

mod arrival;
mod blocks;
mod hazard;
mod idle_nodes;
mod learned;
mod order;

pub use arrival::Arrival;
pub use blocks::Blocks;
pub use learned::Learned;
pub use order::{by_name, by_order};

use gleaner_domain::{Change, EventLog, NodeOrder, NodeRule};

use super::nodes::NodeSet;

/// Creates the implementation of `rule` for the nodes of a log. If `given` is set, a rule that uses an order starts
/// with that order.
pub fn of_rule(rule: NodeRule, given: Option<&NodeOrder>, log: &EventLog) -> Box<dyn NodeChoice> {
    let order = given.map(|given| by_order(log.nodes(), given));
    match (rule, order) {
        (NodeRule::Arrival, _) => Box::new(Arrival),
        (NodeRule::Blocks, None) => Box::new(Blocks::by_name(log)),
        (NodeRule::Blocks, Some(order)) => Box::new(Blocks::in_order(&order)),
        (NodeRule::Learned, None) => Box::new(Learned::new(log)),
        (NodeRule::Learned, Some(order)) => Box::new(Learned::from_order(order)),
    }
}

/// A task that grows.
#[derive(Debug, Clone, Copy)]
pub struct Growing<'a> {
    /// The nodes that the task keeps.
    pub held: &'a NodeSet,
    /// Number of additional nodes that the task gets, at least 1.
    pub wanted: u32,
    /// Work that the task loses at an event at which any of its nodes leave, computed for its planned number of nodes.
    pub cost: f64,
}

/// Chooses the nodes that tasks get and release. A rule receives the events of the log up to the present, but no later
/// events.
pub trait NodeChoice {
    /// Receives the nodes that leave and join at an event, before the decision at that event. `tasks`
    /// is the number of active tasks before the event. Rules learn only while tasks are active, so
    /// that time without tasks does not change the results.
    fn observe(&mut self, changes: &[Change], tasks: usize);

    /// Chooses `count` of the nodes that a shrinking task holds, and appends them to `released`. The
    /// task holds at least `count` nodes.
    fn release(&mut self, held: &NodeSet, count: usize, released: &mut Vec<u32>);

    /// Assigns nodes of `free`, the free nodes of one class, to tasks. Appends a pair to `dealt` for each assigned
    /// node: a position in `growing`, and the node. Each node occurs at most once, and every task gets the number of
    /// nodes that it wants. The caller ensures that at least one task grows and that there are enough free nodes.
    fn deal(&mut self, free: &NodeSet, growing: &[Growing<'_>], dealt: &mut Vec<(usize, u32)>);
}

impl<C: NodeChoice + ?Sized> NodeChoice for &mut C {
    fn observe(&mut self, changes: &[Change], tasks: usize) {
        (**self).observe(changes, tasks);
    }

    fn release(&mut self, held: &NodeSet, count: usize, released: &mut Vec<u32>) {
        (**self).release(held, count, released);
    }

    fn deal(&mut self, free: &NodeSet, growing: &[Growing<'_>], dealt: &mut Vec<(usize, u32)>) {
        (**self).deal(free, growing, dealt);
    }
}
