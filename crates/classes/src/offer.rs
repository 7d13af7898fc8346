//! Options from scaling curves: the numbers of nodes that a task may hold, and the costs of changes.

use gleaner_solvers::problem::interpolate;
use serde::{Deserialize, Serialize};

use crate::problem::Held;

/// The numbers of nodes that a task may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Counts {
    /// All numbers between the bounds.
    #[default]
    All,
    /// Only the node counts of the curve's points. A task that currently holds any other number of nodes cannot keep
    /// that number.
    Points,
}

/// The scaling of a task on the nodes of one class.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// Index of the class.
    pub class: usize,
    /// Minimum number of nodes on which the task runs, at least 1.
    pub min_nodes: u32,
    /// Maximum number of nodes that the task can use.
    pub max_nodes: u32,
    /// Node counts of the curve's points: first 0, then strictly increasing.
    pub nodes: &'a [u32],
    /// Objective per second at each point, interpolated linearly between points.
    pub objective: &'a [f64],
}

impl<'a> Offer<'a> {
    /// Objective per second on `count` nodes.
    pub fn rate(&self, count: u32) -> f64 {
        interpolate(self.nodes, |point| self.objective[point], count)
    }

    /// The numbers of nodes that the task may hold if the class has `capacity` nodes, in ascending order.
    pub fn counts(&self, counts: Counts, capacity: u32) -> impl Iterator<Item = u32> + use<'a> {
        let last = self.nodes.last().copied().unwrap_or(0);
        let allowed = self.min_nodes..=self.max_nodes.min(last).min(capacity);
        let (all, points) = match counts {
            Counts::All => (Some(allowed.clone()), &[][..]),
            Counts::Points => (None, self.nodes),
        };
        let points = points.iter().copied();
        let points = points.filter(move |count| allowed.contains(count));
        all.into_iter().flatten().chain(points)
    }
}

/// The values that determine the cost of changing a task's nodes.
#[derive(Debug, Clone, Copy)]
pub struct Rescaling {
    /// The nodes that the task holds now; `None` if it holds nothing.
    pub current: Option<Held>,
    /// Objective per second now; 0 below the task's minimum number of nodes.
    pub rate: f64,
    /// Seconds of progress lost when the task grows within its class.
    pub up: f64,
    /// Seconds of progress lost when the task shrinks within its class or stops.
    pub down: f64,
    /// Seconds of progress lost when the task moves to another class.
    pub moving: f64,
}

impl Rescaling {
    /// The cost of changing to these nodes, in units of the objective.
    pub fn cost(&self, next: Option<Held>) -> f64 {
        self.rate * self.seconds(next)
    }

    fn seconds(&self, next: Option<Held>) -> f64 {
        match (self.current, next) {
            (None, _) => 0.0,
            (Some(_), None) => self.down,
            (Some(current), Some(next)) if current.class != next.class => self.moving,
            (Some(current), Some(next)) if next.count > current.count => self.up,
            (Some(current), Some(next)) if next.count < current.count => self.down,
            (Some(_), Some(_)) => 0.0,
        }
    }
}
