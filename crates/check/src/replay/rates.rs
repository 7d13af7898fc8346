//! Computes the highest total rate, in work per second, that a set of tasks can reach on a pool of nodes. Assumes that
//! rescaling is free.

use std::collections::BTreeMap;

use gleaner_classes::Counts;
use gleaner_domain::TrainingTask;

/// Maximum number of additions for all sets of tasks together. This many additions take about ten seconds.
const BUDGET: u64 = 20_000_000_000;

/// Caches the best total rates of each set of tasks that share nodes.
#[derive(Debug, Default)]
pub(super) struct BestRates {
    /// Maximum number of nodes of each class. Without node classes, all nodes form a single class.
    most: Vec<u32>,
    spent: u64,
    /// The best rates of each set of tasks, keyed by the tasks' sorted indices into the file.
    known: BTreeMap<Vec<u32>, Rates>,
}

/// The best total rates of a set of tasks, for all numbers of nodes.
#[derive(Debug)]
pub(super) struct Rates {
    most: Vec<u32>,
    /// A rate for each combination of numbers of nodes. The number of nodes of the first class changes fastest.
    list: Vec<f64>,
}

impl BestRates {
    /// An empty cache for up to `most` nodes of each class.
    pub fn new(most: Vec<u32>) -> Self {
        BestRates {
            most,
            ..BestRates::default()
        }
    }

    /// The best total rates of the tasks with the sorted indices `members` in `set`. `None` if the sets requested so
    /// far need more than [`BUDGET`] additions.
    pub fn of(&mut self, set: &[TrainingTask], members: &Vec<u32>) -> Option<&Rates> {
        if !self.known.contains_key(members) {
            let sizes = self.most.iter().map(|most| u64::from(*most) + 1);
            let cells = sizes.fold(1, u64::saturating_mul);
            let options = members
                .iter()
                .flat_map(|&task| set[task as usize].in_each_class())
                .map(|task| u64::from(cap(&task)));
            self.spent = self
                .spent
                .saturating_add(options.sum::<u64>().saturating_mul(cells));
            if self.spent > BUDGET {
                return None;
            }
            let tasks = members.iter().map(|&task| &set[task as usize]);
            let rates = Rates::of(tasks, &self.most);
            self.known.insert(members.clone(), rates);
        }
        self.known(members)
    }

    /// The cached best total rates of the tasks with these sorted indices.
    pub fn known(&self, members: &[u32]) -> Option<&Rates> {
        self.known.get(members)
    }
}

/// The largest number of nodes that a task can use.
pub(super) fn cap(task: &TrainingTask) -> u32 {
    let last = task.curve.nodes.last().copied().unwrap_or(0);
    task.max_nodes.min(last)
}

/// Whether a task may hold this number of nodes.
pub(super) fn may_hold(task: &TrainingTask, count: u32) -> bool {
    let is_point = task.classes.counts == Counts::All || task.curve.nodes.contains(&count);
    is_point && (task.min_nodes..=cap(task)).contains(&count)
}

/// A number of nodes of a class that a task may hold, and the task's rate on them.
#[derive(Debug, Clone, Copy)]
struct Own {
    class: usize,
    count: u32,
    rate: f64,
}

impl Rates {
    /// The best total rates of tasks on up to `most` nodes of each class. A task gets either no nodes or nodes of one
    /// class. Tasks are added one by one. The best rate on n nodes is then the maximum, over k, of a sum: the earlier
    /// tasks' best rate on n − k nodes, and the new task's rate on k nodes. For example, if each of two tasks has the
    /// rate 3 on one node and 5 on two, the best rate on 2 nodes is max(5, 3 + 3) = 6.
    fn of<'t>(tasks: impl Iterator<Item = &'t TrainingTask>, most: &[u32]) -> Self {
        let cells: usize = most.iter().map(|most| *most as usize + 1).product();
        let mut best = vec![0.0; cells];
        for task in tasks {
            let own = own(task, most);
            let earlier = best.clone();
            let mut nodes = vec![0; most.len()];
            for (cell, best) in best.iter_mut().enumerate() {
                for own in own.iter().filter(|own| own.count <= nodes[own.class]) {
                    let left = cell - own.count as usize * stride(most, own.class);
                    *best = f64::max(*best, earlier[left] + own.rate);
                }
                advance(&mut nodes, most);
            }
        }
        Rates {
            most: most.to_vec(),
            list: best,
        }
    }

    /// The best total rate on the given number of nodes of each class.
    pub fn at(&self, nodes: &[u32]) -> f64 {
        let places = nodes.iter().enumerate();
        let cell: usize = places
            .map(|(class, count)| *count as usize * stride(&self.most, class))
            .sum();
        self.list.get(cell).copied().unwrap_or(f64::NAN)
    }

    /// The rate for fractional node counts, interpolated linearly between integer corners (Kuhn's triangulation). The
    /// first corner rounds all numbers down. Each further corner rounds up one more class, in descending order of the
    /// classes' fractional parts.
    pub fn between(&self, nodes: &[f64]) -> f64 {
        let mut corner: Vec<u32> = nodes.iter().map(|nodes| nodes.floor() as u32).collect();
        let mut shares: Vec<(f64, usize)> = nodes.iter().map(|n| n.fract()).zip(0..).collect();
        shares.retain(|(share, _)| *share > 0.0);
        shares.sort_by(|a, b| b.0.total_cmp(&a.0));
        // The weights of the corners add up to 1.
        let mut weight_left = 1.0;
        let mut sum = 0.0;
        for &(share, class) in &shares {
            sum += (weight_left - share) * self.at(&corner);
            weight_left = share;
            corner[class] += 1;
        }
        sum + weight_left * self.at(&corner)
    }
}

/// All combinations of a class and a number of nodes that a task may hold, up to `most` nodes of each class.
fn own(task: &TrainingTask, most: &[u32]) -> Vec<Own> {
    let mut all = Vec::new();
    for (class, most) in most.iter().enumerate() {
        let Some(task) = task.in_class(class) else {
            continue;
        };
        let counts =
            (task.min_nodes..=cap(&task).min(*most)).filter(|count| may_hold(&task, *count));
        all.extend(counts.map(|count| Own {
            class,
            count,
            rate: task.curve.progress_at(count),
        }));
    }
    all
}

/// The distance in the list between two entries that differ by one node of a class.
fn stride(most: &[u32], class: usize) -> usize {
    most[..class]
        .iter()
        .map(|most| *most as usize + 1)
        .product()
}

/// Advances to the next combination of numbers of nodes.
fn advance(nodes: &mut [u32], most: &[u32]) {
    for (count, most) in nodes.iter_mut().zip(most) {
        if *count < *most {
            *count += 1;
            return;
        }
        *count = 0;
    }
}

/// The highest rate of a task in any class.
pub(super) fn best_rate(task: &TrainingTask) -> f64 {
    let rates = task.in_each_class().into_iter();
    rates.map(|task| best_own_rate(&task)).fold(0.0, f64::max)
}

/// The highest rate on any number of nodes that a task may hold; 0 if there is no such number. The
/// curve is piecewise linear, so its maximum is at one of its points or at a bound.
fn best_own_rate(task: &TrainingTask) -> f64 {
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
    use gleaner_domain::{ClassTerms, ScalingCurve};
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
            classes: ClassTerms::default(),
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
            let alike = ["all".to_owned()];
            let placed: Vec<_> = tasks.iter().map(|task| task.in_classes(&alike)).collect();
            let rates = Rates::of(placed.iter(), &[nodes]);
            for n in 0..=nodes {
                prop_assert!((rates.at(&[n]) - tried(&tasks, n)).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn rates_between_whole_numbers_are_linear() {
        let rates = |list: &[f64], most: &[u32]| Rates {
            most: most.to_vec(),
            list: list.to_vec(),
        };
        assert_eq!(rates(&[0.0, 2.0, 3.0], &[2]).between(&[1.5]), 2.5);
        assert_eq!(rates(&[0.0, 2.0], &[1]).between(&[1.0]), 2.0);
        // (0.7, 0.2) = 0.3 · (0, 0) + 0.5 · (1, 0) + 0.2 · (1, 1).
        let two = rates(&[0.0, 10.0, 100.0, 1000.0], &[1, 1]);
        assert!((two.between(&[0.7, 0.2]) - (0.5 * 10.0 + 0.2 * 1000.0)).abs() < 1e-9);
        assert_eq!(best_rate(&task(2, 3, &[0.0, 9.0, 1.0, 4.0, 8.0])), 4.0);
        assert_eq!(best_rate(&task(4, 9, &[0.0, 9.0])), 0.0);
    }
}
