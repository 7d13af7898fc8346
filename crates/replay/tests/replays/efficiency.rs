//! Tests the efficiency, in particular that the number of dedicated nodes and their work refer to the same span of
//! time.

use gleaner_domain::results::replay::{Ended, Summary};
use gleaner_domain::{
    Change, ClassTerms, EventLog, EventLogBuilder, NodeRule, ScalingCurve, TrainingTask, Utc,
};
use gleaner_replay::{Initial, Options};
use gleaner_solvers::SolverKind;
use gleaner_testing::StopAfter;
use proptest::prelude::*;

use crate::support::{options, published_tasks, replay, shared, solver};

/// A log of `nodes` nodes. Each row consists of a time in seconds and the number of nodes that are idle from then until
/// the next row. In each row, the idle nodes are the first nodes of the log.
pub fn counts(nodes: u32, rows: &[(i64, u32)]) -> EventLog {
    let names = (0..nodes).map(|n| format!("n{n}")).collect();
    let mut log = EventLogBuilder::new(names);
    let mut before = 0;
    for &(second, idle) in rows {
        let joined = (before..idle).map(|n| Change::new(n, true));
        let left = (idle..before).map(|n| Change::new(n, false));
        log.push_row(Utc::from_seconds(second), joined.chain(left));
        before = idle;
    }
    log.finish().unwrap()
}

pub fn task(name: &str, submit: i64, work: f64, progress: &[f64]) -> TrainingTask {
    let progress: Vec<f64> = std::iter::once(0.0)
        .chain(progress.iter().copied())
        .collect();
    let most = progress.len() as u32 - 1;
    TrainingTask {
        name: name.to_owned(),
        submit: Utc::from_seconds(submit),
        min_nodes: 1,
        max_nodes: most,
        rescale_up: 0.0,
        rescale_down: 0.0,
        work,
        priority: 1.0,
        deadline: None,
        rung: 0,
        classes: ClassTerms::default(),
        curve: ScalingCurve {
            nodes: (0..=most).collect(),
            progress: progress.as_slice().into(),
            objective: progress.as_slice().into(),
        },
    }
}

/// The summary of a replay that starts with an empty allocation, so that the first event is like any other.
fn summary(log: &EventLog, tasks: &[TrainingTask], max_tasks: usize) -> Summary {
    summary_by(NodeRule::Arrival, log, tasks, max_tasks)
}

fn summary_by(
    node_choice: NodeRule,
    log: &EventLog,
    tasks: &[TrainingTask],
    max_tasks: usize,
) -> Summary {
    let options = Options {
        initial: Initial::Empty,
        node_choice,
        ..options(60.0, max_tasks)
    };
    let outcome = replay(log, tasks, &options, &mut solver(SolverKind::Exact));
    outcome.unwrap().summary
}

// Derived by hand: for 100 s, no task uses the 4 idle nodes. Then a task holds the 2 idle nodes for 100 s.
#[test]
fn only_time_with_active_tasks_counts() {
    let log = counts(4, &[(0, 4), (100, 2), (200, 0), (300, 4)]);
    let task = task("a", 100, f64::INFINITY, &[1.0, 2.0, 3.0, 4.0]);
    let found = summary(&log, &[task], 1);
    assert_eq!(found.active_seconds, 200.0);
    assert_eq!(found.equivalent_nodes, 1.0);
    assert_eq!((found.total_work, found.dedicated_work), (200.0, 200.0));
    assert_eq!(found.efficiency, Some(1.0));
    // All idle time of the replay is also reported.
    assert_eq!(found.idle_node_seconds, 600.0);
    assert_eq!(found.idle_nodes_mean(), 2.0);
    assert_eq!(found.ended, Ended::LogEnded);
}

// Derived by hand: for a task that needs 6 nodes, 6 nodes at first and 2 nodes later do more work than 4
// nodes throughout.
#[test]
fn curves_that_are_not_concave_can_do_better_than_dedicated_nodes() {
    let log = counts(6, &[(0, 0), (1, 6), (101, 2), (201, 2)]);
    let mut large = task("large", 0, f64::INFINITY, &[0.0, 0.0, 0.0, 0.0, 0.0, 60.0]);
    large.min_nodes = 6;
    let small = task("small", 0, f64::INFINITY, &[1.0, 2.0]);
    let found = summary(&log, &[large, small], 2);
    // The run does 60 units per second on 6 nodes, then 2 units per second on 2 nodes. Dedicated nodes do 2
    // units per second throughout. The first second has no idle nodes.
    assert_eq!(found.total_work, 6200.0);
    assert!(found.efficiency.unwrap() > 10.0, "{found:?}");
    assert!(found.remarks()[0].contains("above 100 %"));
}

/// A concave curve: each node adds at most as much as the previous node.
fn concave() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.0f64..1.0, 1..6).prop_map(|mut steps| {
        steps.sort_by(|a, b| b.total_cmp(a));
        let sums = steps.iter().scan(0.01, |sum, step| {
            *sum += step + 0.01;
            Some(*sum)
        });
        // The first node adds the most work per second, so a task gains nothing by waiting for more nodes.
        let mut sums: Vec<f64> = sums.collect();
        sums.iter_mut().for_each(|sum| *sum += 1.0);
        sums
    })
}

/// Random rows that are less than 2,000 seconds apart. Each row states how many of 12 nodes are idle.
fn rows() -> impl Strategy<Value = Vec<(i64, u32)>> {
    prop::collection::vec((1i64..2000, 0u32..=12), 2..30).prop_map(|gaps| {
        let rows = gaps.into_iter().scan(0, |at, (gap, idle)| {
            *at += gap;
            Some((*at, idle))
        });
        rows.collect()
    })
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    /// If the set of active tasks never changes, Jensen's inequality limits the efficiency to at most 1.
    #[test]
    fn concave_curves_do_no_better_than_dedicated_nodes(
        rows in rows(), curves in prop::collection::vec((concave(), 0.0f64..40.0), 1..4),
    ) {
        let tasks: Vec<TrainingTask> = curves.iter().enumerate().map(|(i, (curve, cost))| TrainingTask {
            rescale_up: *cost,
            rescale_down: *cost / 2.0,
            ..task(&format!("t{i}"), 0, f64::INFINITY, curve)
        }).collect();
        let found = summary(&counts(12, &rows), &tasks, tasks.len());
        if let Some(efficiency) = found.efficiency {
            prop_assert!(efficiency <= 1.0 + 1e-9, "{:?}", found);
        }
        prop_assert!(found.remarks().is_empty());
    }

    /// Rows before the first submission and after the last completion do not change the figures about the tasks.
    #[test]
    fn time_without_tasks_changes_nothing(
        rows in rows(), more in rows(), curve in concave(), works in prop::collection::vec(1.0f64..2000.0, 1..4),
        rule in prop::sample::select(&NodeRule::ALL),
    ) {
        let first = rows[0].0;
        let tasks: Vec<TrainingTask> = works.iter().enumerate()
            .map(|(i, work)| task(&format!("t{i}"), first + 1, *work, &curve)).collect();
        let plain = summary_by(rule, &counts(12, &rows), &tasks, 2);
        let shift = more.last().unwrap().0 + 1 - first;
        let earlier = more.iter().map(|&(at, idle)| (at - shift, idle));
        let mut longer: Vec<(i64, u32)> = earlier.chain(rows.iter().copied()).collect();
        if plain.ended == Ended::TasksFinished {
            let last = rows.last().unwrap().0;
            longer.extend(more.iter().map(|&(at, idle)| (last + at, idle)));
        }
        let longer = summary_by(rule, &counts(12, &longer), &tasks, 2);
        let of = |s: &Summary| (
            s.total_work, s.used_node_seconds, s.active_seconds, s.equivalent_nodes,
            s.dedicated_work, s.efficiency, s.fluid_work, s.fluid_efficiency, s.preemption_loss,
            s.tasks_hit_mean,
        );
        prop_assert_eq!(of(&plain), of(&longer));
        prop_assert!(longer.log_idle_node_seconds >= plain.log_idle_node_seconds);
    }
}

// On Summit's log, the first task is submitted hours after the log starts.
#[test]
fn a_log_cut_before_the_first_submission_has_the_same_efficiency() {
    let (Some(path), Some(tasks)) = (
        shared("bftrainer/ndstat-10sdn6-evt.tar.gz"),
        published_tasks("hps-shufflenet", "1000J"),
    ) else {
        return;
    };
    let log = gleaner_inputs::events::read(&path).unwrap().value;
    let of = |node_choice, from: Option<&str>| {
        let slice = gleaner_domain::Slice {
            from: from.map(|from| from.parse().unwrap()),
            ..Default::default()
        };
        let log = log.slice(slice).unwrap();
        let outcome = replay(
            &log,
            &tasks,
            &Options {
                node_choice,
                ..options(120.0, 100)
            },
            &mut solver(SolverKind::Exact),
        );
        outcome.unwrap().summary
    };
    for rule in NodeRule::ALL {
        let (whole, cut) = (of(rule, None), of(rule, Some("2021-02-10 19:41:00")));
        assert_eq!(whole.efficiency, cut.efficiency);
        assert_eq!(whole.equivalent_nodes, cut.equivalent_nodes);
        assert_eq!(whole.tasks_hit_mean, cut.tasks_hit_mean);
        assert!(whole.efficiency.unwrap() < 1.0, "{whole:?}");
        assert!(whole.idle_node_seconds > cut.idle_node_seconds);
    }
}

// The stop signal arrives at the last event, when only the bound remains to be computed.
#[test]
fn a_bound_is_not_begun_after_a_signal() {
    let log = counts(4, &[(0, 4), (10, 3), (20, 4)]);
    let tasks = [task("a", 0, 1e9, &[1.0, 2.0])];
    let options = Options {
        bound: true,
        ..options(60.0, 1)
    };
    let run = |stop_after: usize| {
        let observer = StopAfter::new(stop_after);
        let mut solver = solver(SolverKind::Exact);
        let outcome = gleaner_replay::run(&log, &tasks, &options, &mut solver, &observer);
        let summary = outcome.unwrap().summary;
        let ended = (summary.ended, summary.complete);
        (
            ended,
            summary.events,
            summary.bound_work.is_some(),
            observer.progress().len(),
        )
    };
    let ((ended, complete), events, has_bound, reports) = run(usize::MAX);
    assert_eq!(
        (ended, complete, events, has_bound),
        (Ended::LogEnded, true, 2, true)
    );
    // The first two reports are for the events after event 0. The other reports are for rounds of the
    // search for the bound.
    assert!(reports > 2);
    let interrupted = (Ended::Interrupted, false);
    assert_eq!(run(2), (interrupted, 2, false, 2));
    // A stop during the search.
    assert_eq!(run(3), (interrupted, 2, false, 3));
    // A stop before the last event, and a stop before the first event.
    assert_eq!(run(1), (interrupted, 1, false, 1));
    assert_eq!(run(0), (interrupted, 0, false, 0));
}

/// A task whose n-th node adds the n-th element of `steps` to the task's rate. The steps need not be
/// sorted.
fn stepped(name: &str, min_nodes: u32, cost: f64, steps: &[f64]) -> TrainingTask {
    let rates: Vec<f64> = steps
        .iter()
        .scan(0.0, |rate, step| {
            *rate += step;
            Some(*rate)
        })
        .collect();
    TrainingTask {
        min_nodes: min_nodes.min(rates.len() as u32),
        rescale_up: cost,
        rescale_down: cost / 2.0,
        ..task(name, 0, f64::INFINITY, &rates)
    }
}

proptest! {
    #![proptest_config(gleaner_testing::cases(128))]

    // The tasks are endless, so the work under any rule and window is at most the best possible work,
    // and therefore at most the bound.
    #[test]
    fn bounds_hold_whatever_the_curves_are(
        gaps in prop::collection::vec((1i64..200, 0u32..=6), 2..25),
        set in prop::collection::vec(
            (1u32..4, 0.0f64..40.0, prop::collection::vec(prop_oneof![Just(0.0), 0.0f64..10.0], 1..7)),
            1..4,
        ),
    ) {
        let rows: Vec<(i64, u32)> = gaps.iter().scan(0, |at, &(gap, idle)| {
            *at += gap;
            Some((*at, idle))
        }).collect();
        let tasks: Vec<TrainingTask> = set.iter().enumerate().map(|(i, (min, cost, steps))| {
            stepped(&format!("t{i}"), *min, *cost, steps)
        }).collect();
        let log = counts(6, &rows);
        for (t_fwd, node_choice) in [(10.0, NodeRule::Blocks), (100.0, NodeRule::Arrival), (1e4, NodeRule::Blocks)] {
            let options = Options {
                bound: true,
                node_choice,
                initial: Initial::Solve,
                ..options(t_fwd, 4)
            };
            let outcome = replay(&log, &tasks, &options, &mut solver(SolverKind::Exact)).unwrap();
            let s = &outcome.summary;
            let bound = s.bound_work.unwrap();
            prop_assert!(s.total_work <= bound + 1e-9 * bound.abs(), "{} above {bound}", s.total_work);
            prop_assert!(bound <= s.fluid_work, "{bound} above {}", s.fluid_work);
        }
    }
}
