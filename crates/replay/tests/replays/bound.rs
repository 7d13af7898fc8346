//! Compares the bound with the work of the best possible assignment of nodes to tasks, on small logs.

use gleaner_domain::Unobserved;
use gleaner_replay::bound::{Course, Interval, Kind, Stay};
use gleaner_testing::StopAfter;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// A small log with tasks: each interval has a length and a flag per node that is true if the node is idle.
#[derive(Debug, Clone)]
struct Small {
    intervals: Vec<(f64, Vec<bool>)>,
    kinds: Vec<Kind>,
    stays: Vec<Stay>,
}

impl Small {
    fn course(&self) -> Course {
        let interval = |(seconds, idle): &(f64, Vec<bool>)| Interval {
            seconds: *seconds,
            idle: idle.iter().filter(|&&idle| idle).count() as u32,
        };
        Course {
            intervals: self.intervals.iter().map(interval).collect(),
            kinds: self.kinds.clone(),
            stays: self.stays.clone(),
        }
    }

    /// Work per second of a task on a number of nodes.
    fn rate(&self, task: usize, nodes: usize) -> f64 {
        let rates = &self.kinds[self.stays[task].kind as usize].rates;
        rates[nodes.min(rates.len() - 1)]
    }

    fn is_active(&self, task: usize, interval: usize) -> bool {
        let Stay { from, to, .. } = self.stays[task];
        (from as usize..to as usize).contains(&interval)
    }

    /// All assignments of the nodes that are idle in an interval to the tasks that are active in that interval.
    fn ways(&self, interval: usize) -> Vec<Vec<Option<usize>>> {
        let mut ways = vec![Vec::new()];
        for &idle in &self.intervals[interval].1 {
            let tasks =
                (0..self.stays.len()).filter(|&task| idle && self.is_active(task, interval));
            let holders: Vec<Option<usize>> =
                std::iter::once(None).chain(tasks.map(Some)).collect();
            ways = ways
                .into_iter()
                .flat_map(|way: Vec<Option<usize>>| {
                    holders
                        .iter()
                        .map(move |&holder| [&way[..], &[holder]].concat())
                })
                .collect();
        }
        ways
    }

    /// The work that the tasks lose when the holders of the nodes change from `old` to `new` at the start of an
    /// interval. Infinite if a task would voluntarily release nodes and gain other nodes at the same time.
    fn loss(&self, interval: usize, old: &[Option<usize>], new: &[Option<usize>]) -> f64 {
        let idle = &self.intervals[interval].1;
        let mut loss = 0.0;
        for (task, stay) in self.stays.iter().enumerate() {
            let Kind {
                rescale_up: up,
                rescale_down: down,
                ..
            } = self.kinds[stay.kind as usize];
            if !self.is_active(task, interval) {
                continue;
            }
            let has = |holders: &[Option<usize>], node: usize| holders[node] == Some(task);
            let nodes = 0..idle.len();
            let before = nodes.clone().filter(|&node| has(old, node)).count();
            let left = nodes
                .clone()
                .filter(|&node| has(old, node) && idle[node])
                .count();
            let kept = nodes
                .clone()
                .filter(|&node| has(old, node) && has(new, node))
                .count();
            let after = nodes.filter(|&node| has(new, node)).count();
            if left < before {
                loss += down * self.rate(task, before);
            }
            loss += match (kept < left, after > kept) {
                (true, true) => f64::INFINITY,
                (true, false) => down * self.rate(task, left),
                (false, true) => up * self.rate(task, left),
                (false, false) => 0.0,
            };
        }
        loss
    }

    /// The work of the best allocation.
    fn best(&self) -> f64 {
        let none = vec![None; self.intervals[0].1.len()];
        let mut states = vec![(none, 0.0)];
        for interval in 0..self.intervals.len() {
            let worth = |new: &Vec<Option<usize>>| {
                let from = states
                    .iter()
                    .map(|(old, work)| work - self.loss(interval, old, new));
                let work = (0..self.stays.len()).map(|task| {
                    let nodes = new.iter().filter(|&&holder| holder == Some(task)).count();
                    self.rate(task, nodes) * self.intervals[interval].0
                });
                from.fold(f64::NEG_INFINITY, f64::max) + work.sum::<f64>()
            };
            states = self
                .ways(interval)
                .into_iter()
                .map(|new| (worth(&new), new))
                .map(|(work, new)| (new, work))
                .collect();
        }
        states
            .into_iter()
            .map(|(_, work)| work)
            .fold(f64::NEG_INFINITY, f64::max)
    }

    /// The work of the best allocation if rescaling were free: the best split of each interval,
    /// independent of the other intervals.
    fn costless(&self) -> f64 {
        let free = Small {
            kinds: self
                .kinds
                .iter()
                .map(|kind| Kind {
                    rescale_up: 0.0,
                    rescale_down: 0.0,
                    ..kind.clone()
                })
                .collect(),
            ..self.clone()
        };
        free.best()
    }
}

fn kind() -> impl Strategy<Value = Kind> {
    let slopes = prop::collection::vec(0.0f64..10.0, 1..4);
    (slopes, 0.0f64..20.0, 0.0f64..20.0, any::<bool>()).prop_map(
        |(mut slopes, rescale_up, rescale_down, concave)| {
            if concave {
                slopes.sort_by(|a, b| b.total_cmp(a));
            }
            let mut rates = vec![0.0];
            for slope in slopes {
                rates.push(rates[rates.len() - 1] + slope);
            }
            Kind {
                rates,
                rescale_up,
                rescale_down,
            }
        },
    )
}

fn small() -> impl Strategy<Value = Small> {
    let interval = (0.0f64..60.0, prop::collection::vec(any::<bool>(), 3));
    (
        prop::collection::vec(interval, 1..6),
        prop::collection::vec((kind(), 0u32..3, 1u32..6), 1..3),
    )
        .prop_map(|(intervals, tasks)| {
            let count = intervals.len() as u32;
            let stays = (0..).zip(&tasks).map(|(kind, (_, from, length))| {
                let from = (*from).min(count - 1);
                Stay {
                    kind,
                    from,
                    to: (from + length).min(count),
                }
            });
            Small {
                stays: stays.collect(),
                kinds: tasks.iter().map(|(kind, ..)| kind.clone()).collect(),
                intervals,
            }
        })
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    // The best work is found by brute force over all assignments of nodes to tasks.
    #[test]
    fn nothing_does_more_than_the_bound(small in small()) {
        let (best, bound) = (small.best(), bound(&small.course()));
        prop_assert!(bound >= best - 1e-9 * (1.0 + best.abs()), "{} below {}", bound, best);
    }

    // For concave curves, the bound at the initial prices is already at most the work without rescaling costs.
    #[test]
    fn the_bound_is_at_most_the_costless_work(small in small()) {
        let concave = small.kinds.iter().all(|kind| {
            kind.rates.windows(3).all(|r| r[2] - r[1] <= r[1] - r[0])
        });
        prop_assume!(concave);
        let (costless, bound) = (small.costless(), bound(&small.course()));
        prop_assert!(bound <= costless + 1e-9 * (1.0 + costless), "{} above {}", bound, costless);
    }
}

/// The bound is only useful if it is close to the best work. This test compares the two on random cases from a fixed
/// seed.
#[test]
fn the_bound_is_close_to_the_best() {
    let mut runner = TestRunner::deterministic();
    let (mut best, mut bounds, mut costless) = (0.0, 0.0, 0.0);
    for _ in 0..300 {
        let small = small().new_tree(&mut runner).unwrap().current();
        best += small.best();
        bounds += bound(&small.course());
        costless += small.costless();
    }
    println!(
        "the bound is {:.4} times the best, the costless work {:.4}",
        bounds / best,
        costless / best
    );
    assert!(bounds <= 1.1 * best, "{}", bounds / best);
}

// Small fixed example: the only node is busy for one second. The task does 10 units per second on it, and loses 20
// units when the node leaves: 10·10 + 10·10 − 20.
#[test]
fn unavoidable_costs_are_counted() {
    let interval = |seconds, idle| Interval { seconds, idle };
    let course = Course {
        intervals: vec![interval(10.0, 1), interval(1.0, 0), interval(10.0, 1)],
        kinds: vec![Kind {
            rates: vec![0.0, 10.0],
            rescale_up: 5.0,
            rescale_down: 2.0,
        }],
        stays: vec![Stay {
            kind: 0,
            from: 0,
            to: 3,
        }],
    };
    let found = bound(&course);
    assert!((180.0..180.01).contains(&found), "{found}");
    assert_eq!(bound(&Course::default()), 0.0);
}

/// The bound of an uninterrupted computation.
fn bound(course: &Course) -> f64 {
    gleaner_replay::bound::bound(course, &Unobserved).unwrap()
}

#[test]
fn a_bound_that_is_stopped_has_no_value() {
    let stopped = StopAfter::new(0);
    assert_eq!(
        gleaner_replay::bound::bound(&Course::default(), &stopped),
        None
    );
}

// Derived by hand: one node is idle, but the task is fast only on four nodes. A quarter of a four-node plan would do 25
// units of work per second.
#[test]
fn no_task_has_a_share_of_a_plan_for_more_nodes_than_are_idle() {
    let course = Course {
        intervals: vec![Interval {
            seconds: 10.0,
            idle: 1,
        }],
        kinds: vec![Kind {
            rates: vec![0.0, 1.0, 2.0, 3.0, 100.0],
            rescale_up: 0.0,
            rescale_down: 0.0,
        }],
        stays: vec![Stay {
            kind: 0,
            from: 0,
            to: 1,
        }],
    };
    let found = bound(&course);
    assert!((10.0..10.01).contains(&found), "{found}");
}
