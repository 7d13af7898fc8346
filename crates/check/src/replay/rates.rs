//! Computes the best total rate, in work per second, of tasks that share nodes if rescaling is
//! free.

use std::collections::BTreeMap;

use gleaner_domain::TrainingTask;

/// Maximum total number of additions for all sets of tasks: about ten seconds of computation.
const BUDGET: u64 = 20_000_000_000;

/// A cache of the best total rates of sets of tasks that share nodes.
#[derive(Debug, Default)]
pub(super) struct BestRates {
    /// Maximum number of nodes.
    most: u32,
    spent: u64,
    /// The best rate for each number of nodes, keyed by the tasks' sorted indices into the file.
    known: BTreeMap<Vec<u32>, Vec<f64>>,
}

impl BestRates {
    /// An empty cache for up to `most` nodes.
    pub fn new(most: u32) -> Self {
        BestRates {
            most,
            ..BestRates::default()
        }
    }

    /// The best total rate of tasks for each number of nodes. `members` are sorted indices into
    /// `set`. `None` if all sets of tasks together need too many additions.
    pub fn of(&mut self, set: &[TrainingTask], members: &Vec<u32>) -> Option<&[f64]> {
        if !self.known.contains_key(members) {
            let caps = members
                .iter()
                .map(|&task| u64::from(cap(&set[task as usize])));
            self.spent += caps.sum::<u64>().saturating_mul(u64::from(self.most) + 1);
            if self.spent > BUDGET {
                return None;
            }
            let tasks = members.iter().map(|&task| &set[task as usize]);
            let rates = best_rates(tasks, self.most);
            self.known.insert(members.clone(), rates);
        }
        self.known(members)
    }

    /// The cached best total rates of the tasks with these sorted indices, one for each number of
    /// nodes.
    pub fn known(&self, members: &[u32]) -> Option<&[f64]> {
        self.known.get(members).map(Vec::as_slice)
    }
}

/// The largest number of nodes that a task can use.
pub(super) fn cap(task: &TrainingTask) -> u32 {
    let last = task.curve.nodes.last().copied().unwrap_or(0);
    task.max_nodes.min(last)
}

/// The best total rate of tasks on 0, 1, … `most` nodes. A task gets either no nodes or a number
/// within its bounds. Tasks are added one by one: the best rate on n nodes is the maximum, over k, of
/// the earlier tasks' best rate on n − k nodes plus the new task's rate on k nodes. For example, if
/// each of two tasks has the rate 3 on one node and 5 on two, the best rate on 2 nodes is max(5, 3 +
/// 3) = 6.
fn best_rates<'t>(tasks: impl Iterator<Item = &'t TrainingTask>, most: u32) -> Vec<f64> {
    let mut best = vec![0.0; most as usize + 1];
    for task in tasks {
        let counts = task.min_nodes..=cap(task).min(most);
        let own: Vec<(usize, f64)> = counts
            .map(|count| (count as usize, task.curve.progress_at(count)))
            .collect();
        let earlier = best.clone();
        for (nodes, best) in best.iter_mut().enumerate() {
            for &(count, rate) in own.iter().take_while(|(count, _)| *count <= nodes) {
                *best = f64::max(*best, earlier[nodes - count] + rate);
            }
        }
    }
    best
}

/// The rate on a fractional number of nodes, interpolated linearly.
pub(super) fn between(rates: &[f64], nodes: f64) -> f64 {
    let whole = nodes.floor();
    let at = |count: usize| rates.get(count).copied().unwrap_or(f64::NAN);
    let (least, share) = (at(whole as usize), nodes - whole);
    if share == 0.0 {
        least
    } else {
        least + share * (at(whole as usize + 1) - least)
    }
}

/// The highest rate on any number of nodes that a task may hold; 0 if there is no such number. The
/// curve is piecewise linear, so its maximum is at one of its points or at a bound.
pub(super) fn best_rate(task: &TrainingTask) -> f64 {
    let bounds = task.min_nodes..=cap(task);
    let ends = [*bounds.start(), *bounds.end()];
    let points = task.curve.nodes.iter().chain(&ends);
    let points = points.filter(|count| bounds.contains(count));
    points
        .map(|&count| task.curve.progress_at(count))
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_domain::ScalingCurve;
    use proptest::prelude::*;

    fn task(min_nodes: u32, max_nodes: u32, progress: &[f64]) -> TrainingTask {
        TrainingTask {
            name: String::new(),
            submit: TrainingTask::FROM_START,
            min_nodes,
            max_nodes,
            rescale_up: 0.0,
            rescale_down: 0.0,
            work: 1.0,
            priority: 1.0,
            deadline: None,
            rung: 0,
            curve: ScalingCurve {
                nodes: (0..progress.len() as u32).collect(),
                progress: progress.into(),
                objective: progress.into(),
            },
        }
    }

    /// The best rate over all plans, found by brute force.
    fn tried(tasks: &[TrainingTask], nodes: u32) -> f64 {
        let Some((first, others)) = tasks.split_first() else {
            return 0.0;
        };
        let counts = (0..=nodes).filter(|&n| n == 0 || (first.min_nodes..=cap(first)).contains(&n));
        let rate = |n: u32| {
            if n == 0 {
                0.0
            } else {
                first.curve.progress_at(n)
            }
        };
        counts
            .map(|n| rate(n) + tried(others, nodes - n))
            .fold(0.0, f64::max)
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(64))]

        #[test]
        fn the_best_split_is_that_of_all_plans(
            sets in proptest::collection::vec(
                (1u32..4, 1u32..6, proptest::collection::vec(0.0..9.0f64, 2..6)), 0..4),
            nodes in 0u32..9,
        ) {
            let tasks: Vec<_> = sets.iter().map(|(min, max, p)| task(*min, *max, p)).collect();
            let rates = best_rates(tasks.iter(), nodes);
            for n in 0..=nodes {
                prop_assert!((rates[n as usize] - tried(&tasks, n)).abs() < 1e-9);
            }
        }
    }

    // A small fixed example.
    #[test]
    fn rates_between_whole_numbers_are_linear() {
        assert_eq!(between(&[0.0, 2.0, 3.0], 1.5), 2.5);
        assert_eq!(between(&[0.0, 2.0], 1.0), 2.0);
        assert_eq!(best_rate(&task(2, 3, &[0.0, 9.0, 1.0, 4.0, 8.0])), 4.0);
        assert_eq!(best_rate(&task(4, 9, &[0.0, 9.0])), 0.0);
    }
}
