//! The initial assignment of nodes at event 0.

use gleaner_classes as classes;
use gleaner_domain::Change;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::replay::StepStatus;
use gleaner_solvers::Problem;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

use super::allocator::decide::{Decider, Decision, Plan};
use super::allocator::most;

/// The rules for assigning the nodes that are idle at event 0 to the tasks that are active at this event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Initial {
    /// Each node is assigned to a task drawn at random. As in the original replayer, a task that then has fewer nodes
    /// than its minimum loses all of them. A task that has more nodes than its maximum loses its first nodes. If the
    /// nodes are of several classes, the decider assigns them, as with [`Initial::Solve`].
    #[default]
    Random,
    /// The decider assigns the nodes.
    Solve,
    /// No task gets a node.
    Empty,
}

/// Decides at event 0 in place of the run's decider.
pub(super) struct FirstDeal<'d> {
    pub initial: Initial,
    /// The log's changes at event 0, which list the idle nodes.
    pub nodes: &'d [Change],
    pub seed: u64,
    pub decider: &'d mut dyn Decider,
}

impl FirstDeal<'_> {
    /// Deals the nodes to tasks at random, within the limits of tasks and groups.
    fn at_random(&self, problem: &Problem) -> Plan {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let tasks = problem.tasks.iter();
        let bounds: Vec<_> = tasks.map(|t| (t.min_nodes, t.cap())).collect();
        let mut dealt = deal_at_random(problem.nodes, &bounds, &mut rng);
        keep_within(&mut dealt, &bounds, &most(problem));
        let node = |position: u32| self.nodes[position as usize].node();
        let own = |positions: Vec<u32>| positions.into_iter().map(node).collect();
        Plan::Nodes(dealt.into_iter().map(own).collect())
    }
}

impl Decider for FirstDeal<'_> {
    fn name(&self) -> &str {
        self.decider.name()
    }

    fn impossible(&self, event: usize, task: &str, what: &str) -> Error {
        self.decider.impossible(event, task, what)
    }

    fn decide(&mut self, event: usize, problem: &Problem) -> Result<Decision> {
        let plan = match self.initial {
            Initial::Solve => return self.decider.decide(event, problem),
            Initial::Empty => Plan::Keep,
            Initial::Random => self.at_random(problem),
        };
        Ok(Decision::unsolved(plan, StepStatus::Trivial))
    }

    /// If `initial` is [`Initial::Empty`], gives no task a node. Otherwise, delegates to the run's decider.
    fn decide_in_classes(&mut self, event: usize, problem: &classes::Problem) -> Result<Decision> {
        match self.initial {
            Initial::Empty => Ok(Decision::unsolved(Plan::Keep, StepStatus::Trivial)),
            Initial::Solve | Initial::Random => self.decider.decide_in_classes(event, problem),
        }
    }
}

/// Deals `nodes` idle nodes at random to tasks with the given (min, max) bounds. Returns, for each task, the
/// positions of its nodes (0 to `nodes - 1`) in ascending order.
pub fn deal_at_random(nodes: u32, bounds: &[(u32, u32)], rng: &mut ChaCha8Rng) -> Vec<Vec<u32>> {
    let mut dealt = vec![Vec::new(); bounds.len()];
    if bounds.is_empty() {
        return dealt;
    }
    for node in 0..nodes {
        dealt[rng.random_range(0..bounds.len())].push(node);
    }
    for (own, &(min, max)) in dealt.iter_mut().zip(bounds) {
        if own.len() < min as usize {
            own.clear();
        }
        let over = own.len().saturating_sub(max as usize);
        own.drain(..over);
    }
    dealt
}

/// Takes nodes away from tasks until no group exceeds its maximum. The last task of a group loses nodes first. A task
/// that would fall below its minimum loses all its nodes. `groups` contains the positions of each group's tasks and the
/// group's maximum number of nodes.
pub fn keep_within(dealt: &mut [Vec<u32>], bounds: &[(u32, u32)], groups: &[(Vec<usize>, u32)]) {
    for (members, most) in groups {
        let held: usize = members.iter().map(|&task| dealt[task].len()).sum();
        let mut over = held.saturating_sub(*most as usize);
        for &task in members.iter().rev() {
            let own = &mut dealt[task];
            let left = own.len().saturating_sub(over);
            let left = if left < bounds[task].0 as usize {
                0
            } else {
                left
            };
            if over > 0 {
                over = over.saturating_sub(own.len() - left);
                own.truncate(left);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_task_gets_all_nodes_up_to_its_maximum() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let dealt = deal_at_random(7, &[(1, 5)], &mut rng);
        assert_eq!(dealt, [vec![2, 3, 4, 5, 6]]);
    }

    #[test]
    fn bounds_hold_and_no_node_is_dealt_twice() {
        for seed in 0..50 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let bounds = [(1, 3), (4, 6), (2, 64)];
            let dealt = deal_at_random(15, &bounds, &mut rng);
            let mut all: Vec<u32> = dealt.iter().flatten().copied().collect();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), dealt.iter().map(Vec::len).sum::<usize>());
            for (own, (min, max)) in dealt.iter().zip(bounds) {
                assert!(own.is_empty() || (min as usize..=max as usize).contains(&own.len()));
            }
        }
    }

    #[test]
    fn groups_lose_what_they_have_too_much() {
        let mut dealt = vec![vec![0, 1, 2], vec![3, 4], vec![5, 6]];
        let bounds = [(2, 4), (1, 4), (1, 4)];
        keep_within(&mut dealt, &bounds, &[(vec![0, 1, 2], 7), (vec![0, 1], 3)]);
        assert_eq!(dealt, [vec![0, 1, 2], vec![], vec![5, 6]]);
        keep_within(&mut dealt, &bounds, &[(vec![0, 2], 4)]);
        assert_eq!(dealt, [vec![0, 1, 2], vec![], vec![5]]);
        keep_within(&mut dealt, &bounds, &[(vec![0], 1)]);
        assert_eq!(dealt, [vec![], vec![], vec![5]]);
    }

    #[test]
    fn without_tasks_no_node_is_dealt() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        assert!(deal_at_random(7, &[], &mut rng).is_empty());
    }
}
