//! Tests of replays on nodes of several classes.

use std::collections::BTreeMap;
use std::sync::Arc;

use gleaner_check::replay::Inputs;
use gleaner_classes::Counts;
use gleaner_domain::results::replay::{Outcome, StepStatus};
use gleaner_domain::{
    Change, ClassTerms, EventLog, EventLogBuilder, NodeClasses, NodeRule, Objective, ScalingCurve,
    Script, TaskGroup, Terms, TrainingTask, Utc,
};
use gleaner_replay::allocator::node_choice::Arrival;
use gleaner_replay::allocator::{self, Allocator, AllocatorError, Batch, Measured, Source};
use gleaner_replay::{Initial, Options, SolverDecider};
use gleaner_solvers::{Limits, SolverKind, SolverSpec};
use proptest::prelude::*;

use crate::audit;
use crate::support::{options, replay, solver};

/// A decider for nodes of several classes, whose answers are checked.
fn decider(kind: SolverKind) -> SolverDecider {
    let spec = SolverSpec::new(kind);
    let solver = gleaner_classes::solver::build(spec).unwrap();
    SolverDecider::in_classes_by(spec, solver, Limits::default()).checked(spec.big_m)
}

fn curve(progress: &[f64]) -> ScalingCurve {
    let progress: Vec<f64> = std::iter::once(0.0)
        .chain(progress.iter().copied())
        .collect();
    ScalingCurve {
        nodes: (0..progress.len() as u32).collect(),
        progress: progress.as_slice().into(),
        objective: progress.as_slice().into(),
    }
}

/// A task that can use `classes`. Each class is given by its name, the minimum number of nodes, and the rates on 1, 2,
/// … nodes.
fn task(name: &str, work: f64, classes: &[(&str, u32, &[f64])]) -> TrainingTask {
    let terms = classes.iter().map(|(class, min_nodes, progress)| {
        let terms = Terms {
            min_nodes: *min_nodes,
            max_nodes: progress.len() as u32,
            curve: curve(progress),
        };
        ((*class).to_owned(), terms)
    });
    let by_name: BTreeMap<String, Terms> = terms.collect();
    let own = by_name.values().next().cloned().unwrap();
    TrainingTask {
        name: name.to_owned(),
        submit: TrainingTask::FROM_START,
        min_nodes: own.min_nodes,
        max_nodes: own.max_nodes,
        rescale_up: 2.0,
        rescale_down: 1.0,
        work,
        priority: 1.0,
        deadline: None,
        rung: 0,
        classes: ClassTerms {
            by_name: Arc::new(by_name),
            ..ClassTerms::default()
        },
        curve: own.curve,
    }
}

/// A log of nodes of these classes. Each row consists of a time in seconds and the nodes that are idle from then until
/// the next row.
fn log(classes: &[&str], rows: &[(i64, &[u32])]) -> EventLog {
    let names = (0..classes.len()).map(|n| format!("n{n}")).collect();
    let mut log = EventLogBuilder::new(names);
    let mut idle = vec![false; classes.len()];
    for (second, nodes) in rows {
        let changed =
            (0..classes.len() as u32).filter(|node| idle[*node as usize] != nodes.contains(node));
        let changes: Vec<Change> = changed
            .map(|node| Change::new(node, nodes.contains(&node)))
            .collect();
        for change in &changes {
            idle[change.node() as usize] = change.idle();
        }
        log.push_row(Utc::from_seconds(*second), changes);
    }
    log.set_classes(NodeClasses::of_names(classes.iter().copied()));
    log.finish().unwrap()
}

/// Asserts that `gleaner check` finds no faults in the replay.
fn verify(log: &EventLog, tasks: &[TrainingTask], options: &Options, outcome: &Outcome) {
    let classes = options.classes(log, tasks).unwrap();
    let inputs = Inputs {
        classes: classes.as_ref(),
        ..audit::inputs(log, tasks, &[])
    };
    audit::it_follows(&inputs, outcome);
}

// The script repeats the decisions of `a_task_moves_to_a_faster_class`.
#[test]
fn a_script_can_move_a_task_to_another_class() {
    let log = log(
        &["slow", "slow", "fast"],
        &[(0, &[0, 1]), (100, &[0, 1, 2]), (200, &[0, 1, 2])],
    );
    let tasks = [task(
        "a",
        f64::INFINITY,
        &[("fast", 1, &[10.0]), ("slow", 1, &[2.0, 4.0])],
    )];
    let options = options(60.0, 1);
    let follow = |plans: [&[u32]; 3]| {
        let plans = plans.map(|nodes| BTreeMap::from([("a".to_owned(), nodes.to_vec())]));
        let mut script = Script {
            events: (0..).zip(plans).collect(),
            file: "alloc.jsonl".to_owned(),
        };
        replay(&log, &tasks, &options, &mut script)
    };
    let outcome = follow([&[0, 1], &[2], &[2]]).unwrap();
    verify(&log, &tasks, &options, &outcome);
    let progress: Vec<f64> = outcome.steps.iter().map(|row| row.progress).collect();
    assert_eq!(progress, [400.0 - 8.0, 1000.0 - 12.0]);
    let mixed = follow([&[0, 1], &[1, 2], &[2]]).unwrap_err().to_string();
    assert!(
        mixed.contains("is given nodes of several classes"),
        "{mixed}"
    );
    let same = follow([&[0], &[1], &[1]]).unwrap_err().to_string();
    assert!(same.contains("moves to other nodes"), "{same}");
}

/// The node that task `a` holds after `measurements`, each of which consists of a class and the rate on one node of
/// that class. One node of the class `slow` and one of `fast` are idle. The task file states 4 units of work per second
/// on the slow node and 10 on the fast node. A measurement raises the cost of a move from 3 s to 20 s.
fn held_after(measurements: &[(usize, f64)]) -> Result<u32, AllocatorError> {
    let settings = allocator::Settings {
        t_fwd: 60.0,
        max_tasks: 1,
        objective: Objective::default(),
        groups: Arc::default(),
        shown_offset: 0,
        classes: NodeClasses::of_names(["slow", "fast", "other"]),
    };
    let (start, choice) = (Utc::from_seconds(0), Box::new(Arrival));
    let mut allocator = Allocator::new(settings, Source::Batches, start, 3, choice)?;
    let mut exact = decider(SolverKind::Exact);
    let joined = [0, 1].map(|node| Change::new(node, true));
    let tasks = [task("a", 1e6, &[("fast", 1, &[10.0]), ("slow", 1, &[4.0])])];
    let submission = Batch {
        nodes: &joined,
        submitted: &tasks,
        ..Batch::at(0, start)
    };
    allocator.advance(&submission, &mut exact)?;
    let measured = |&(class, rate): &(usize, f64)| Measured {
        task: 0,
        class,
        curve: curve(&[rate]),
        rescale_up: 2.0,
        rescale_down: 1.0,
        move_cost: Some(20.0),
    };
    let measured: Vec<Measured> = measurements.iter().map(measured).collect();
    let batch = Batch {
        measured: &measured,
        ..Batch::at(1, Utc::from_seconds(10))
    };
    allocator.advance(&batch, &mut exact)?;
    let mut held = allocator.holdings().map(|holding| holding.node);
    Ok(held.next().unwrap())
}

// The window is 60 s. With the measured cost of 20 s, a move from `fast` is worthwhile if 60 · (slow − fast) exceeds
// 20 · fast.
#[test]
fn decisions_use_the_curves_measured_in_each_class() {
    assert_eq!(held_after(&[]).unwrap(), 1);
    assert_eq!(held_after(&[(1, 3.5)]).unwrap(), 1);
    assert_eq!(held_after(&[(1, 2.5)]).unwrap(), 0);
    assert_eq!(held_after(&[(0, 13.0)]).unwrap(), 1);
    assert_eq!(held_after(&[(0, 14.0)]).unwrap(), 0);
    assert_eq!(held_after(&[(0, 14.0), (1, 14.0)]).unwrap(), 1);
}

#[test]
fn measurements_in_classes_that_the_task_does_not_use_are_refused() {
    for (measurement, expected) in [
        ((2, 1.0), "does not use class number 2"),
        ((9, 1.0), "does not use class number 9"),
        ((1, f64::NAN), "NaN"),
    ] {
        let error = held_after(&[measurement]).unwrap_err();
        assert!(matches!(error, AllocatorError::Refused { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

// Derived by hand. The task starts on both nodes of the slow class. When the fast node joins, the move is worthwhile.
// Over the window of 60 s, it gains 60 · (10 − 4), and it costs 3 · 4. The cost is charged at the event after the move.
#[test]
fn a_task_moves_to_a_faster_class() {
    let log = log(
        &["slow", "slow", "fast"],
        &[
            (0, &[0, 1]),
            (100, &[0, 1, 2]),
            (200, &[0, 1, 2]),
            (300, &[0, 1]),
        ],
    );
    let tasks = [task(
        "a",
        f64::INFINITY,
        &[("fast", 1, &[10.0]), ("slow", 1, &[2.0, 4.0])],
    )];
    let options = options(60.0, 1);
    let outcome = replay(&log, &tasks, &options, &mut decider(SolverKind::Exact)).unwrap();
    verify(&log, &tasks, &options, &outcome);
    let progress: Vec<f64> = outcome.steps.iter().map(|row| row.progress).collect();
    // The start costs 2 s at rate 4, the move 3 s at rate 4, and the preemption 1 s at rate 10.
    assert_eq!(progress, [400.0 - 8.0, 1000.0 - 12.0, 1000.0 - 10.0]);
    let classes = outcome.classes.unwrap();
    let moves: Vec<_> = classes
        .moves
        .iter()
        .map(|row| (&*row.from, row.nodes_before, &*row.to, row.nodes_after))
        .collect();
    assert_eq!(moves, [("slow", 2, "fast", 1)]);
    let work: Vec<_> = classes
        .totals
        .iter()
        .map(|row| (&*row.class, row.work))
        .collect();
    assert_eq!(work, [("slow", 392.0), ("fast", 1978.0)]);
    assert_eq!(outcome.summary.fluid_work, 400.0 + 2.0 * 1000.0);
}

// Derived by hand: the task can hold 1 or 3 nodes of the log's only class, but not 2.
#[test]
fn only_points_of_the_curve_are_held() {
    let mut points = task("a", f64::INFINITY, &[("all", 1, &[1.0, 5.0, 6.0])]);
    points.classes = ClassTerms {
        counts: Counts::Points,
        ..ClassTerms::default()
    };
    points.curve = ScalingCurve {
        nodes: [0, 1, 3].into(),
        progress: [0.0, 1.0, 6.0].into(),
        objective: [0.0, 1.0, 6.0].into(),
    };
    points.max_nodes = 3;
    let log = log(
        &["x", "x", "x"],
        &[(0, &[0, 1]), (10, &[0, 1]), (20, &[0, 1, 2]), (30, &[0])],
    );
    let log = log.with_classes(None);
    let options = options(60.0, 1);
    let tasks = [points];
    let outcome = replay(&log, &tasks, &options, &mut decider(SolverKind::Exact)).unwrap();
    verify(&log, &tasks, &options, &outcome);
    let used: Vec<u32> = outcome.steps.iter().map(|row| row.nodes_used).collect();
    assert_eq!(used, [1, 3, 1]);
    assert_eq!(outcome.classes, None);
}

// Derived by hand: after 100 s, with restarts of 3 s, a move multiplies the task's goodput by 100/103. Moving therefore
// pays if the other class is 1.05 times as fast, but not if it is 1.01 times as fast.
#[test]
fn sia_counts_a_restart_as_lost_goodput() {
    let log = log(
        &["slow", "fast"],
        &[(0, &[0]), (100, &[0, 1]), (200, &[0, 1])],
    );
    let of = |fast: f64| {
        [task(
            "a",
            f64::INFINITY,
            &[("fast", 1, &[fast]), ("slow", 1, &[1.0])],
        )]
    };
    let options = Options {
        objective: "sia(-0.5, 1.1)".parse::<Objective>().unwrap(),
        ..options(60.0, 1)
    };
    for (fast, moves) in [(1.01, 0), (1.05, 1)] {
        let tasks = of(fast);
        let outcome = replay(&log, &tasks, &options, &mut decider(SolverKind::Exact)).unwrap();
        verify(&log, &tasks, &options, &outcome);
        assert_eq!(outcome.classes.unwrap().moves.len(), moves, "{fast}");
    }
}

#[test]
fn what_classes_do_not_support_is_refused() {
    let log = log(&["a", "b"], &[(0, &[0, 1]), (10, &[0])]);
    let tasks = [task("a", 5.0, &[("a", 1, &[1.0]), ("b", 1, &[1.0])])];
    let refused = |log: &EventLog, options: &Options, what: &str| {
        let error = replay(log, &tasks, options, &mut decider(SolverKind::Exact)).unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
    };
    let plain = options(60.0, 1);
    let bound = Options {
        bound: true,
        ..plain.clone()
    };
    refused(&log, &bound, "--bound");
    let fair = Options {
        objective: "share-fair".parse().unwrap(),
        ..plain.clone()
    };
    refused(&log, &fair, "max-min");
    refused(&log.clone().with_classes(None), &plain, "--classes");
}

// The exact solver does not support groups, so a MILP solver decides.
#[test]
fn groups_keep_to_their_limits_in_each_class() {
    if gleaner_classes::solver::build(SolverSpec::new(SolverKind::Highs)).is_err() {
        println!("skipped: this build has no HiGHS");
        return;
    }
    let log = log(
        &["a", "a", "a", "b", "b", "b"],
        &[
            (0, &[0, 1, 2, 3, 4, 5]),
            (10, &[0, 1, 2, 3, 4]),
            (20, &[0, 1, 2, 3, 4, 5]),
            (30, &[0]),
        ],
    );
    let rates: &[f64] = &[1.0, 2.0, 3.0];
    let task = |name: &str| task(name, f64::INFINITY, &[("a", 1, rates), ("b", 1, rates)]);
    let tasks = [task("x"), task("y")];
    let group = TaskGroup {
        name: "g".into(),
        tasks: vec!["x".into(), "y".into()],
        max_by_class: BTreeMap::from([("a".to_owned(), 2)]),
        ..TaskGroup::default()
    };
    let options = Options {
        groups: vec![group].into(),
        ..options(60.0, 2)
    };
    let outcome = replay(&log, &tasks, &options, &mut decider(SolverKind::Highs)).unwrap();
    let classes = options.classes(&log, &tasks).unwrap();
    let inputs = Inputs {
        classes: classes.as_ref(),
        ..audit::inputs(&log, &tasks, &options.groups)
    };
    audit::it_follows(&inputs, &outcome);
    let rows = outcome.classes.unwrap().rows;
    // At the first two events after the start, x and y together hold 2 nodes of a and all idle nodes of b.
    let used: Vec<u32> = rows[..4].iter().map(|row| row.nodes_used).collect();
    assert_eq!(used, [2, 2, 2, 3]);
}

// Derived by hand: x earns ten times as much on each node as y, but y must hold 2 nodes. While only one node is idle, y
// gets that node.
#[test]
fn a_group_gets_its_minimum_in_any_class() {
    if gleaner_classes::solver::build(SolverSpec::new(SolverKind::Highs)).is_err() {
        println!("skipped: this build has no HiGHS");
        return;
    }
    let log = log(
        &["a", "a", "b", "b"],
        &[
            (0, &[0, 1, 2, 3]),
            (10, &[2]),
            (20, &[0, 1, 2, 3]),
            (30, &[0]),
        ],
    );
    let task = |name: &str, rate: f64| {
        let rates = [rate, 2.0 * rate];
        let classes: [(&str, u32, &[f64]); 2] = [("a", 1, &rates), ("b", 1, &rates)];
        task(name, f64::INFINITY, &classes)
    };
    let tasks = [task("x", 10.0), task("y", 1.0)];
    let group = TaskGroup {
        name: "g".into(),
        tasks: vec!["y".into()],
        min_nodes: Some(2),
        ..TaskGroup::default()
    };
    let options = Options {
        groups: vec![group].into(),
        ..options(1_000.0, 2)
    };
    let outcome = replay(&log, &tasks, &options, &mut decider(SolverKind::Highs)).unwrap();
    let classes = options.classes(&log, &tasks).unwrap();
    let inputs = Inputs {
        classes: classes.as_ref(),
        ..audit::inputs(&log, &tasks, &options.groups)
    };
    audit::it_follows(&inputs, &outcome);
    let start = log.times()[0];
    let held = |second: f64| {
        let at = start.plus_seconds(second);
        let rows = outcome.allocations.iter();
        rows.filter(|row| row.task == 1 && row.from <= at && at < row.to)
            .count()
    };
    assert_eq!([5.0, 15.0, 25.0].map(held), [2, 1, 2]);
    assert_eq!(outcome.summary.events_short, Some(2));
}

/// A random task: work, rescale costs, move cost, whether only points of the curve are allowed, and terms for each
/// class. The terms are the minimum number of nodes and the rates; `None` if the task does not use the class.
type Drawn = (
    f64,
    [f64; 2],
    Option<f64>,
    bool,
    Vec<Option<(u32, Vec<f64>)>>,
);

fn drawn() -> impl Strategy<Value = Drawn> {
    let terms = prop::option::weighted(0.8, (1u32..3, prop::collection::vec(0.1f64..9.0, 2..5)));
    (
        prop_oneof![1.0f64..500.0, Just(f64::INFINITY)],
        [0.0f64..4.0, 0.0f64..4.0],
        prop::option::of(0.0f64..9.0),
        any::<bool>(),
        prop::collection::vec(terms, 3),
    )
}

fn placed(index: usize, (work, [up, down], move_cost, points, terms): &Drawn) -> TrainingTask {
    const CLASSES: [&str; 3] = ["a", "b", "c"];
    let named = CLASSES.into_iter().zip(terms);
    let used: Vec<(&str, u32, &[f64])> = named
        .filter_map(|(class, terms)| {
            let (min, rates) = terms.as_ref()?;
            Some((class, *min, rates.as_slice()))
        })
        .collect();
    let used = if used.is_empty() {
        vec![("b", 1, &[1.0][..])]
    } else {
        used
    };
    let mut task = task(&format!("t{index}"), *work, &used);
    (task.rescale_up, task.rescale_down) = (*up, *down);
    task.classes.move_cost = *move_cost;
    task.classes.counts = if *points { Counts::Points } else { Counts::All };
    task
}

/// The rows of a log of `nodes` nodes. A row states for each node whether it is idle.
fn rows(nodes: usize) -> impl Strategy<Value = Vec<Vec<bool>>> {
    prop::collection::vec(prop::collection::vec(any::<bool>(), nodes), 3..12)
}

fn log_of(classes: &[&str], rows: &[Vec<bool>]) -> EventLog {
    let lists: Vec<Vec<u32>> = rows
        .iter()
        .map(|row| {
            (0..)
                .zip(row)
                .filter(|(_, idle)| **idle)
                .map(|(node, _)| node)
                .collect()
        })
        .collect();
    let rows: Vec<(i64, &[u32])> = (0..)
        .map(|i| 10 * i)
        .zip(lists.iter().map(Vec::as_slice))
        .collect();
    log(classes, &rows)
}

const NODES: [&str; 9] = ["a", "b", "c", "a", "b", "c", "a", "b", "b"];

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    #[test]
    fn replays_follow_from_their_allocations(
        rows in rows(9),
        tasks in prop::collection::vec(drawn(), 1..5),
        max_tasks in 1usize..4,
        completion_events: bool,
        node_choice in prop_oneof![Just(NodeRule::Arrival), Just(NodeRule::Blocks), Just(NodeRule::Learned)],
        initial in prop_oneof![Just(Initial::Empty), Just(Initial::Solve)],
        objective in prop_oneof![Just("throughput"), Just("speedup * priority"), Just("sia(-0.5, 1.1)"), Just("rate / (1 + waited)")],
    ) {
        let log = log_of(&NODES, &rows);
        let tasks: Vec<TrainingTask> = tasks.iter().enumerate().map(|(i, task)| placed(i, task)).collect();
        let options = Options {
            completion_events,
            node_choice,
            initial,
            objective: objective.parse().unwrap(),
            ..options(30.0, max_tasks)
        };
        let outcome = replay(&log, &tasks, &options, &mut decider(SolverKind::Exact)).unwrap();
        verify(&log, &tasks, &options, &outcome);
        for row in &outcome.steps {
            prop_assert!(matches!(row.status, StepStatus::Optimal | StepStatus::Trivial));
        }
        let classes = outcome.classes.unwrap();
        for (step, rows) in outcome.steps.iter().zip(classes.rows.chunks(3)) {
            prop_assert_eq!(step.nodes_used, rows.iter().map(|row| row.nodes_used).sum::<u32>());
            prop_assert_eq!(step.nodes_idle, rows.iter().map(|row| row.nodes_idle).sum::<u32>());
            prop_assert_eq!(step.tasks_running, rows.iter().map(|row| row.tasks_running).sum::<u32>());
            let work: f64 = rows.iter().map(|row| row.progress).sum();
            prop_assert!((step.progress - work).abs() <= 1e-9 * (1.0 + work.abs()));
            prop_assert!(rows.iter().all(|row| row.nodes_used <= row.nodes_idle));
        }
    }

    // Nodes that are divided into classes can be used in fewer ways than interchangeable nodes.
    #[test]
    fn classes_with_equal_curves_are_never_better_than_one(
        rows in rows(9),
        tasks in prop::collection::vec((prop::collection::vec(0.1f64..9.0, 2..6), 1u32..3), 1..5),
    ) {
        let divided = log_of(&NODES, &rows);
        let alike = divided.clone().with_classes(None);
        let plain: Vec<TrainingTask> = tasks.iter().enumerate().map(|(i, (rates, min))| {
            let mut plain = task(&format!("t{i}"), f64::INFINITY, &[("a", *min, rates)]);
            plain.classes = ClassTerms { move_cost: Some(0.0), ..ClassTerms::default() };
            plain
        }).collect();
        let options = Options { initial: Initial::Empty, ..options(30.0, 4) };
        let run = |log: &EventLog, decider: &mut SolverDecider| {
            let outcome = replay(log, &plain, &options, decider).unwrap();
            verify(log, &plain, &options, &outcome);
            outcome.summary.fluid_work
        };
        let divided = run(&divided, &mut decider(SolverKind::Exact));
        let alike = run(&alike, &mut solver(SolverKind::Exact));
        prop_assert!(divided <= alike * (1.0 + 1e-9), "{divided} > {alike}");
    }
}
