//! Learned: the rule [`Blocks`] in an order that is learnt from the log, without names.
//!
//! Nodes that have left or joined at the same event are near each other. [`Groups`] remembers who
//! moved with whom, and [`chain`] makes an order of it, from time to time.

mod chain;
mod groups;

use gleaner_core::domain::{Change, EventLog};

use super::{Blocks, Growing, NodeChoice};
use crate::nodes::{NodePool, NodeSet};
use chain::chain;
use groups::Groups;

/// Moves that are remembered, for each node on average. Summit's log of two weeks has 134.
const REMEMBERED: usize = 128;

/// A new order is made when the moves have become more by this share, so that the time it takes
/// stays in proportion to the log.
const GROWTH: f64 = 0.3;

/// Deals runs of neighbours in a learnt order.
#[derive(Debug)]
pub struct Learned {
    blocks: Blocks,
    groups: Groups,
    /// All nodes in the present order.
    order: Vec<u32>,
    /// Moves since the present order was made.
    new_moves: usize,
}

impl Learned {
    /// Begins with the order of the log's columns.
    pub fn new(log: &EventLog) -> Self {
        Learned::from_order((0..log.nodes().len() as u32).collect())
    }

    /// Begins with this order: it lists the indices of all nodes of the log.
    pub fn from_order(order: Vec<u32>) -> Self {
        Learned {
            blocks: Blocks::in_order(&order),
            groups: Groups::default(),
            order,
            new_moves: 0,
        }
    }

    /// Remembers who moves together. More than a quarter of all nodes say nothing of any of them.
    fn learn(&mut self, changes: &[Change]) {
        for joins in [false, true] {
            let moved = changes.iter().filter(|change| change.idle() == joins);
            let count = moved.clone().count();
            if (2..=self.order.len() / 4).contains(&count) {
                self.groups.push(moved.map(|change| change.node()));
                self.new_moves += count;
            }
        }
    }

    fn reorder(&mut self) {
        self.groups.forget(REMEMBERED * self.order.len());
        self.order = chain(&self.groups, &self.order);
        self.blocks.reorder(&self.order);
        self.new_moves = 0;
    }
}

impl NodeChoice for Learned {
    fn observe(&mut self, changes: &[Change], tasks: usize) {
        self.blocks.observe(changes, tasks);
        if tasks > 0 {
            self.learn(changes);
            let enough = (GROWTH * self.groups.moves() as f64) as usize;
            if self.new_moves > enough.max(self.order.len() / 4) {
                self.reorder();
            }
        }
    }

    fn release(&mut self, held: &NodeSet, count: usize, released: &mut Vec<u32>) {
        self.blocks.release(held, count, released);
    }

    fn deal(&mut self, pool: &NodePool, growing: &[Growing<'_>], dealt: &mut Vec<(usize, u32)>) {
        self.blocks.deal(pool, growing, dealt);
    }
}
