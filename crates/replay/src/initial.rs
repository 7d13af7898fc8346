//! The initial deal at event 0.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// How the nodes idle at the start are dealt to the tasks active at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Initial {
    /// Each node goes to a task drawn at random. A task below its minimum then gets none, and
    /// one above its maximum loses its first nodes (as in the original).
    #[default]
    Random,
    /// The decider decides on them.
    Solve,
    /// No task gets a node.
    Empty,
}

/// Deals `nodes` idle nodes at random to tasks with the given (min, max) bounds. Returns for
/// each task the positions, from 0 to `nodes - 1`, of the nodes that it gets, ascending.
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

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::rand_core::SeedableRng;

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
    fn without_tasks_no_node_is_dealt() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        assert!(deal_at_random(7, &[], &mut rng).is_empty());
    }
}
