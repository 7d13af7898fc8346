//! Blocks: a growing task gets free nodes that are neighbours of each other and of the nodes that it holds.
//!
//! # The model
//!
//! Nodes have a fixed order. The batch scheduler takes runs of nodes that are neighbours *among the idle nodes* in this
//! order. Distances are therefore counted in idle nodes: the rank of an idle node is the number of idle nodes before
//! it. Two idle nodes whose ranks differ by g are taken at different events with probability q(g) = 1 − exp(−g ÷ 10).
//! How soon a node is taken depends on its distance from the nearer end of the order, because schedulers fill machines
//! from the ends. [`EndHazard`] learns h(r), the share of the idle nodes at the distance of rank r that an event takes.
//!
//! A task loses the amount of work `cost` at an event that takes any of its nodes. A new node of rank r therefore costs
//! the task `cost · h(r) · q(g)`. Here g is the smaller of two distances from r: to the nearest node that the task
//! holds, and to the next new node below r. The objective is to minimise the sum of these costs over all new nodes.
//!
//! # The rule
//!
//! The tasks are served in descending order of `cost`. Each takes the cheapest run of neighbours in the list of free
//! nodes. On small cases, the tests compare this rule with the optimal assignment.
//!
//! Example: the nodes of ranks 3, 4 and 9 are free, and a task that holds the node of rank 5 needs two more. Let
//! `cost · h` be 1 for every rank. The run 3, 4 costs q(2) for rank 3 and q(1) for rank 4, a total of 0.18 + 0.10 =
//! 0.28. The run 4, 9 costs q(1) + q(4) = 0.10 + 0.33 = 0.43. The task gets ranks 3 and 4.

use std::sync::LazyLock;

use gleaner_domain::{Change, EventLog};

use super::hazard::EndHazard;
use super::idle_nodes::IdleNodes;
use super::order::by_name;
use super::{Growing, NodeChoice};
use crate::allocator::nodes::NodeSet;

/// Decay length, in ranks, of the probability that two nodes leave together. It is about the mean length of the runs of
/// idle neighbours that a batch scheduler takes (16 on Summit). Results hardly depend on this value: for values from 3
/// to 30, the work on the Summit log varies by 0.15 %.
const REACH: f64 = 10.0;

/// The rule that assigns runs of neighbours.
#[derive(Debug)]
pub struct Blocks {
    idle: IdleNodes,
    hazard: EndHazard,
    /// Buffer for the ranks of the nodes that leave at an event.
    leaving: Vec<u32>,
    /// Number of calls to `deal` so far.
    deals: u64,
    /// The value of `deals` when each node was last assigned.
    dealt_at: Vec<u64>,
    ranked: Ranked,
}

impl Blocks {
    /// Creates the rule for the natural order of the log's node names, or for the order of the log if no name contains
    /// a number.
    pub fn by_name(log: &EventLog) -> Self {
        Blocks::in_order(&by_name(log.nodes()))
    }

    /// Creates the rule for the order `order`, which lists the indices of all nodes of the log.
    pub fn in_order(order: &[u32]) -> Self {
        Blocks {
            idle: IdleNodes::new(order),
            hazard: EndHazard::default(),
            leaving: Vec::new(),
            deals: 0,
            dealt_at: vec![0; order.len()],
            ranked: Ranked::default(),
        }
    }

    /// Changes the order. The new order must list the same nodes.
    pub(super) fn reorder(&mut self, order: &[u32]) {
        self.idle.reorder(order);
    }
}

impl NodeChoice for Blocks {
    fn observe(&mut self, changes: &[Change], tasks: usize) {
        if tasks > 0 {
            let left = changes.iter().filter(|change| !change.idle());
            let ranks = left.map(|change| self.idle.rank(change.node()));
            self.leaving.clear();
            self.leaving.extend(ranks);
            self.hazard.learn(self.idle.count(), &self.leaving);
        }
        for change in changes {
            self.idle.set(change.node(), change.idle());
        }
        self.idle.count_ranks();
    }

    /// Releases the nodes that the task has held longest. Nodes that were assigned together are released
    /// in ascending order of position.
    fn release(&mut self, held: &NodeSet, count: usize, released: &mut Vec<u32>) {
        let first = released.len();
        released.extend(held.iter());
        released[first..]
            .sort_unstable_by_key(|&node| (self.dealt_at[node as usize], self.idle.rank(node)));
        released.truncate(first + count);
    }

    fn deal(&mut self, free: &NodeSet, growing: &[Growing<'_>], dealt: &mut Vec<(usize, u32)>) {
        self.deals += 1;
        let ranked = &mut self.ranked;
        ranked.list_free(&self.idle, &self.hazard, free);
        let mut by_cost: Vec<usize> = (0..growing.len()).collect();
        by_cost.sort_by(|&a, &b| growing[b].cost.total_cmp(&growing[a].cost));
        for place in by_cost {
            let Growing { held, wanted, .. } = growing[place];
            let wanted = wanted as usize;
            let first = ranked.cheapest_run(&self.idle, held, wanted);
            for free in ranked.free.drain(first..first + wanted) {
                self.dealt_at[free.node as usize] = self.deals;
                dealt.push((place, free.node));
            }
        }
    }
}

/// Probability that two idle nodes whose ranks differ by `distance` leave at different events.
fn apart(distance: u32) -> f64 {
    static NEAR: LazyLock<[f64; 256]> =
        LazyLock::new(|| std::array::from_fn(|distance| 1.0 - (-(distance as f64) / REACH).exp()));
    NEAR.get(distance as usize).copied().unwrap_or(1.0)
}

/// A free node.
#[derive(Debug, Clone, Copy)]
struct Free {
    rank: u32,
    node: u32,
    /// Estimated probability that this node leaves at the next event at which any node leaves.
    hazard: f64,
}

/// The free nodes, and the nodes of a growing task, by rank.
#[derive(Debug, Default)]
struct Ranked {
    free: Vec<Free>,
    /// Ranks of the nodes that the task holds, ascending.
    held: Vec<u32>,
    /// For each free node: its cost as the first node of a run, and its cost as a later node of a run.
    costs: Vec<(f64, f64)>,
}

impl Ranked {
    fn list_free(&mut self, idle: &IdleNodes, hazard: &EndHazard, free: &NodeSet) {
        self.free.clear();
        self.free.extend(free.iter().map(|node| {
            let rank = idle.rank(node);
            let hazard = hazard.at(rank, idle.count());
            Free { rank, node, hazard }
        }));
        self.free.sort_unstable_by_key(|free| free.rank);
    }

    /// Finds the cheapest run of `wanted` free nodes for a task that holds `held`, and returns the run's first index in
    /// the list of free nodes. Of equally cheap runs, the first is chosen.
    fn cheapest_run(&mut self, idle: &IdleNodes, held: &NodeSet, wanted: usize) -> usize {
        self.held.clear();
        self.held.extend(held.iter().map(|node| idle.rank(node)));
        self.held.sort_unstable();
        let held = &self.held;
        let (mut above, mut below) = (0, None);
        self.costs.clear();
        self.costs.extend(self.free.iter().map(|free| {
            while held.get(above).is_some_and(|&other| other < free.rank) {
                above += 1;
            }
            let own = [
                above.checked_sub(1).map(|at| held[at]),
                held.get(above).copied(),
            ];
            let own = own
                .into_iter()
                .flatten()
                .map(|other| other.abs_diff(free.rank));
            let own = own.min().unwrap_or(u32::MAX);
            let gap = below
                .replace(free.rank)
                .map_or(u32::MAX, |below| free.rank - below);
            (free.hazard * apart(own), free.hazard * apart(own.min(gap)))
        }));
        // When the run moves on by one node, `later` gains the cost of the node that enters the run. It loses the cost
        // of the node that becomes the first node of the run.
        let mut later: f64 = self
            .costs
            .iter()
            .take(wanted)
            .skip(1)
            .map(|cost| cost.1)
            .sum();
        let (mut first, mut least) = (0, f64::INFINITY);
        for start in 0..=self.costs.len().saturating_sub(wanted) {
            if start > 0 && wanted > 1 {
                later += self.costs[start + wanted - 1].1 - self.costs[start].1;
            }
            let cost = self.costs[start].0 + later;
            if cost < least - 1e-12 {
                (first, least) = (start, cost);
            }
        }
        first
    }
}
