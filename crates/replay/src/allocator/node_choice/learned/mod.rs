//! Learned: the rule [`Blocks`], with an order that is learnt from the log instead of derived from
//! names.
//!
//! Nodes that leave or join at the same event are probably near each other. [`Groups`] remembers
//! which nodes moved together, and from time to time [`chain`] derives a new order from them.

mod chain;
mod groups;

use gleaner_domain::{Change, EventLog};

use super::{Blocks, Growing, NodeChoice};
use crate::allocator::nodes::NodeSet;
use chain::chain;
use groups::Groups;

/// Maximum number of remembered moves, as a multiple of the number of nodes. Half of the moves are reserved for
/// departures, and half for arrivals. Summit's two-week log has 134 moves per node.
const REMEMBERED: usize = 128;

/// A new order is derived once the number of moves since the previous order exceeds this share of the remembered moves.
/// The number of moves must also exceed a quarter of the number of nodes. The total computing time therefore stays
/// proportional to the length of the log.
const GROWTH: f64 = 0.3;

/// Maximum ratio of the average distance ([`Moves::distance`]) of joining nodes to that of leaving nodes. Above this
/// ratio, groups of joining nodes are ignored, because on some machines, nodes from all over the machine join at the
/// same time.
const NEAR: f64 = 3.0;

/// Weight of a new group in the moving average of distances, which covers about the last hundred groups.
const NEW_SHARE: f64 = 0.01;

/// The rule that assigns runs of neighbours in a learnt order.
#[derive(Debug)]
pub struct Learned {
    blocks: Blocks,
    left: Moves,
    joined: Moves,
    /// All nodes in the current order.
    order: Vec<u32>,
    /// The position of each node in this order.
    places: Vec<u32>,
    /// Number of moves remembered since the current order was made.
    new_moves: usize,
}

/// Groups of nodes that moved in the same direction: nodes that left, or nodes that joined.
#[derive(Debug)]
struct Moves {
    groups: Groups,
    /// Moving average, over groups, of the median distance between neighbours of a group in the current order. The
    /// distance is divided by the distance in a group of the same size that is spread evenly over all nodes. Example:
    /// of 1,000 nodes, the four at positions 10, 11, 12 and 20 have a median distance of 1, compared with 250 if spread
    /// evenly, so the ratio is 0.004.
    distance: f64,
    /// Buffer for the positions of a group's nodes.
    spots: Vec<u32>,
}

impl Default for Moves {
    fn default() -> Self {
        Moves {
            groups: Groups::default(),
            distance: 1.0,
            spots: Vec::new(),
        }
    }
}

impl Moves {
    /// Remembers a group of at least two nodes that moved together.
    fn learn(&mut self, group: impl Iterator<Item = u32> + Clone, places: &[u32]) {
        self.groups.push(group.clone());
        self.spots.clear();
        self.spots.extend(group.map(|node| places[node as usize]));
        self.spots.sort_unstable();
        let mut gaps: Vec<u32> = self
            .spots
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .collect();
        let middle = gaps.len() / 2;
        let (_, median, _) = gaps.select_nth_unstable(middle);
        let even = places.len() as f64 / self.spots.len() as f64;
        self.distance += NEW_SHARE * (f64::from(*median) / even - self.distance);
    }
}

impl Learned {
    /// Creates the rule. Its first order is the order of the log's columns.
    pub fn new(log: &EventLog) -> Self {
        Learned::from_order((0..log.nodes().len() as u32).collect())
    }

    /// Creates the rule. Its first order is `order`, which lists the indices of all nodes of the log.
    pub fn from_order(order: Vec<u32>) -> Self {
        let mut learned = Learned {
            blocks: Blocks::in_order(&order),
            left: Moves::default(),
            joined: Moves::default(),
            places: vec![0; order.len()],
            order,
            new_moves: 0,
        };
        learned.place();
        learned
    }

    fn place(&mut self) {
        for (place, &node) in (0..).zip(&self.order) {
            self.places[node as usize] = place;
        }
    }

    /// Remembers which nodes move together. A group of more than a quarter of all nodes is ignored, because it says
    /// nothing about neighbours.
    fn learn(&mut self, changes: &[Change]) {
        for (joins, moves) in [(false, &mut self.left), (true, &mut self.joined)] {
            let moved = changes.iter().filter(|change| change.idle() == joins);
            let count = moved.clone().count();
            if (2..=self.order.len() / 4).contains(&count) {
                moves.learn(moved.map(|change| change.node()), &self.places);
                self.new_moves += count;
            }
        }
    }

    fn moves(&self) -> usize {
        self.left.groups.moves() + self.joined.groups.moves()
    }

    fn reorder(&mut self) {
        let most = REMEMBERED * self.order.len() / 2;
        self.left.groups.forget(most);
        self.joined.groups.forget(most);
        let mut groups = self.left.groups.clone();
        if self.joined.distance <= NEAR * self.left.distance {
            self.joined
                .groups
                .iter()
                .for_each(|group| groups.push(group.iter().copied()));
        }
        self.order = chain(groups, &self.order);
        self.place();
        self.blocks.reorder(&self.order);
        self.new_moves = 0;
    }
}

impl NodeChoice for Learned {
    fn observe(&mut self, changes: &[Change], tasks: usize) {
        self.blocks.observe(changes, tasks);
        if tasks > 0 {
            self.learn(changes);
            let enough = (GROWTH * self.moves() as f64) as usize;
            if self.new_moves > enough.max(self.order.len() / 4) {
                self.reorder();
            }
        }
    }

    fn release(&mut self, held: &NodeSet, count: usize, released: &mut Vec<u32>) {
        self.blocks.release(held, count, released);
    }

    fn deal(&mut self, free: &NodeSet, growing: &[Growing<'_>], dealt: &mut Vec<(usize, u32)>) {
        self.blocks.deal(free, growing, dealt);
    }
}
