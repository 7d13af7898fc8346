//! Tests of the replay engine: comparisons with the original replayer's outputs, audits, and hand-made
//! logs.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

mod allocator;
mod audit;
mod bound;
mod classes;
mod delays;
mod efficiency;
mod groups;
mod node_choice;
mod objectives;
mod rounds;
mod searches;
mod support;
mod windows;

use audit::audit;
use gleaner_domain::Script;
use gleaner_domain::Unobserved;
use gleaner_domain::objective::NAMED;
use gleaner_domain::results::replay::Outcome;
use gleaner_domain::results::replay::{EventKind, StepRow, StepStatus};
use gleaner_domain::{
    Change, ClassTerms, EventLog, EventLogBuilder, NodeRule, Objective, ScalingCurve, TrainingTask,
    Utc,
};
use gleaner_replay::{Decider, Decision, Initial, Options, SolverDecider};
use gleaner_solvers::{Allocation, Limits, Problem, SolveError, Solver, SolverKind, Status, range};
use proptest::prelude::*;
use support::{options, published_tasks, replay, shared, solver, summit};

/// The values of a row in the original replayer's 13 columns: the time, and the other 12 columns as numbers.
fn columns(row: &StepRow) -> (String, [f64; 12]) {
    let numbers = [
        row.progress,
        row.rate,
        row.rescale_cost,
        row.event as f64,
        row.nodes_left.into(),
        row.tasks_preempted.into(),
        row.nodes_joined.into(),
        row.tasks_active.into(),
        row.nodes_idle.into(),
        row.tasks_running.into(),
        row.nodes_used.into(),
        row.preemption_cost,
    ];
    (row.time.at_offset(0).to_string(), numbers)
}

fn assert_equals_reference(rows: &[StepRow], csv: &str) {
    let expected: Vec<&str> = csv.lines().skip(1).collect();
    for (row, line) in rows.iter().zip(&expected) {
        let mut fields = line.split(',');
        let (time, numbers) = columns(row);
        assert_eq!(fields.next(), Some(time.as_str()), "{line}");
        for (found, field) in numbers.iter().zip(fields) {
            let wanted: f64 = field.parse().unwrap();
            let tolerance = 1e-6 * wanted.abs().max(1.0);
            assert!((found - wanted).abs() <= tolerance, "{row:?}\n{line}");
        }
    }
    assert_eq!(rows.len(), expected.len());
}

fn scripted_equals_reference(run: &str, nodes: usize, tasks: (&str, &str), options: &Options) {
    let (Some(dir), Some(tasks), Some(log)) = (
        shared(&format!("bftrainer/reference/{run}")),
        published_tasks(tasks.0, tasks.1),
        summit(Some(nodes)),
    ) else {
        return;
    };
    let mut script = gleaner_inputs::script::read(&dir.join("alloc.jsonl"), &log)
        .unwrap()
        .value;
    let options = Options {
        initial: Initial::Solve,
        ..options.clone()
    };
    let csv = std::fs::read_to_string(dir.join("step-logs.csv")).unwrap();
    let outcome = replay(&log, &tasks, &options, &mut script).unwrap();
    assert_equals_reference(&outcome.steps, &csv);
}

fn first_events(log: &EventLog, events: usize) -> EventLog {
    let mut out = EventLogBuilder::new(log.nodes().to_vec());
    for (time, changes) in log.rows().take(events) {
        out.push_row(time, changes.iter().copied());
    }
    out.finish().unwrap()
}

// Golden values: the step tables of the original replayer.
#[test]
fn scripted_hps_run_reproduces_every_row() {
    scripted_equals_reference(
        "hps-10J_nodes100",
        100,
        ("hps-shufflenet", "10J"),
        &options(10.0, 10),
    );
}

#[test]
fn scripted_imagenet_run_reproduces_every_row() {
    scripted_equals_reference(
        "imagenet-spdup_nodes40_max5_tfwd60",
        40,
        ("ImageNet-spdup", "1001J"),
        &options(60.0, 5),
    );
}

#[test]
fn a_replay_without_a_script_does_as_much_work_as_the_original() {
    let (Some(log), Some(tasks)) = (summit(Some(100)), published_tasks("hps-shufflenet", "10J"))
    else {
        return;
    };
    let outcome = replay(
        &log,
        &tasks,
        &options(10.0, 10),
        &mut solver(SolverKind::Exact),
    )
    .unwrap();
    let work: f64 = tasks.iter().map(|t| t.work).sum();
    assert_eq!(outcome.summary.tasks_finished, 10);
    assert!((outcome.summary.total_work - work).abs() <= 1e-6 * work);
    assert_eq!(outcome.summary.events_optimal, outcome.summary.events);
    audit(&log, &tasks, &outcome);
}

#[test]
fn the_whole_summit_log_is_replayed_optimally_and_adds_up() {
    let (Some(log), Some(tasks)) = (summit(None), published_tasks("hps-shufflenet", "1000J"))
    else {
        return;
    };
    for max_tasks in [10, 100] {
        let options = options(120.0, max_tasks);
        let outcome = replay(&log, &tasks, &options, &mut solver(SolverKind::Exact)).unwrap();
        assert_eq!(outcome.summary.events_optimal, outcome.summary.events);
        assert_eq!(outcome.summary.tasks_finished, 1000);
        audit(&log, &tasks, &outcome);
    }
}

fn task(name: &str, work: f64) -> TrainingTask {
    TrainingTask {
        name: name.into(),
        submit: TrainingTask::FROM_START,
        min_nodes: 1,
        max_nodes: 4,
        rescale_up: 10.0,
        rescale_down: 5.0,
        work,
        priority: 1.0,
        deadline: None,
        rung: 0,
        classes: ClassTerms::default(),
        curve: ScalingCurve {
            nodes: [0, 1, 4].into(),
            progress: [0.0, 10.0, 34.0].into(),
            objective: [0.0, 10.0, 34.0].into(),
        },
    }
}

/// A log from rows of (seconds, idle nodes).
fn log(nodes: u32, rows: &[(i64, &[u32])]) -> EventLog {
    let mut out = EventLogBuilder::new((0..nodes).map(|n| format!("n{n}")).collect());
    let mut before: &[u32] = &[];
    for &(seconds, idle) in rows {
        let changed = (0..nodes).filter(|n| idle.contains(n) != before.contains(n));
        let changes: Vec<_> = changed.map(|n| Change::new(n, idle.contains(&n))).collect();
        out.push_row(Utc::from_seconds(seconds), changes);
        before = idle;
    }
    out.finish().unwrap()
}

fn run(log: &EventLog, tasks: &[TrainingTask], options: &Options) -> Outcome {
    let outcome = replay(log, tasks, options, &mut solver(SolverKind::Exact)).unwrap();
    audit(log, tasks, &outcome);
    outcome
}

// Small fixed example, derived by hand. The first node does 10 units of work per second, and each further node does 8,
// so two nodes do 18.
#[test]
fn a_run_worked_by_hand() {
    let log = log(
        3,
        &[
            (0, &[0, 1]),
            (100, &[0, 1, 2]),
            (200, &[0]),
            (300, &[]),
            (400, &[0]),
        ],
    );
    let outcome = run(&log, &[task("a", 1e9)], &options(1000.0, 10));
    let rows: Vec<_> = outcome
        .steps
        .iter()
        .map(|r| (r.progress, r.rate, r.rescale_cost, r.preemption_cost))
        .collect();
    assert_eq!(
        rows,
        [
            // 100 s at 18, minus the cost of the start, which is 10 s at 18. Growing to 3 nodes costs
            // 10 s at 18.
            (1800.0 - 180.0, 26.0, 180.0, 0.0),
            // 100 s at 26, minus the cost of the growth, minus the cost of the preemption, which is
            // 5 s at 26.
            (2600.0 - 180.0 - 130.0, 10.0, 0.0, 130.0),
            // The last node is lost, which costs 5 s at 10.
            (1000.0 - 50.0, 0.0, 0.0, 50.0),
            // No task holds nodes. Growing from 0 nodes costs nothing.
            (0.0, 10.0, 0.0, 0.0),
        ]
    );
    let t = &outcome.tasks[0];
    assert_eq!((t.rescales_up, t.rescales_down, t.preemptions), (2, 0, 2));
    assert_eq!((t.lost_up, t.lost_preempted), (10.0 + 10.0, 5.0 + 5.0));
    assert_eq!(t.node_seconds, 200.0 + 300.0 + 100.0);
    assert_eq!(outcome.summary.idle_node_seconds, 600.0);
    assert_eq!(
        (
            outcome.summary.rescale_loss,
            outcome.summary.preemption_loss
        ),
        (360.0, 180.0)
    );
}

// One task runs on 2 nodes that are always idle, and is compared with the same task on 2 dedicated nodes.
#[test]
fn efficiency_is_work_over_the_best_uninterrupted_split() {
    let log = log(2, &[(0, &[0, 1]), (1000, &[0, 1])]);
    let outcome = run(&log, &[task("a", 1e9)], &options(100.0, 10));
    assert_eq!(outcome.summary.equivalent_nodes, 2.0);
    assert_eq!(outcome.summary.dedicated_work, 18_000.0);
    assert_eq!(
        outcome.summary.efficiency,
        Some((18_000.0 - 180.0) / 18_000.0)
    );
}

#[test]
fn a_completion_can_be_its_own_event() {
    let log = log(2, &[(0, &[0, 1]), (1000, &[0]), (2000, &[])]);
    let tasks = [task("a", 1620.0), task("b", 1e9)];
    let late = run(
        &log,
        &tasks,
        &Options {
            max_tasks: 1,
            ..options(100.0, 1)
        },
    );
    assert_eq!(late.tasks[0].end, Some(Utc::from_seconds(1000)));
    let early = run(
        &log,
        &tasks,
        &Options {
            completion_events: true,
            ..options(100.0, 1)
        },
    );
    // The start takes 10 s, and 1620 units of work at 18 per second take 90 s: 100 s in total.
    assert_eq!(early.tasks[0].end, Some(Utc::from_seconds(100)));
    assert_eq!(early.steps[0].kind, EventKind::Completion);
    assert_eq!((early.steps[0].event, early.steps[1].event), (0, 1));
    assert!(early.summary.total_work > late.summary.total_work);
}

// Derived by hand: two nodes do 18 units of work per second, and the start costs 180 units. The task's 810
// units are therefore done after 55 s. The task keeps its nodes until the next event. A preemption at
// that event costs 90 units.
#[test]
fn what_follows_a_completion_is_booked_apart() {
    let accounts = |rows: &[(i64, &[u32])], completion_events| {
        let options = Options {
            completion_events,
            ..options(100.0, 1)
        };
        let outcome = run(&log(2, rows), &[task("a", 810.0)], &options);
        let row = &outcome.steps[0];
        (
            [
                row.unused_node_seconds,
                row.before_completion_node_seconds,
                row.after_completion_node_seconds,
            ],
            [
                row.progress,
                row.rescale_loss,
                row.preemption_cost,
                row.after_completion_work,
            ],
        )
    };
    let stays: &[(i64, &[u32])] = &[(0, &[0, 1]), (100, &[0, 1])];
    let leaves: &[(i64, &[u32])] = &[(0, &[0, 1]), (100, &[0])];
    assert_eq!(
        accounts(stays, false),
        ([0.0, 110.0, 90.0], [810.0, 180.0, 0.0, 810.0])
    );
    assert_eq!(
        accounts(leaves, false),
        ([0.0, 120.0, 80.0], [810.0, 180.0, 90.0, 720.0])
    );
    assert_eq!(
        accounts(leaves, true),
        ([0.0, 110.0, 0.0], [810.0, 180.0, 0.0, 0.0])
    );
}

// Derived by hand: the task needs two nodes and loses one. It keeps the other node, because no plan
// arrives in time.
#[test]
fn nodes_below_the_minimum_are_booked_apart() {
    let log = log(2, &[(0, &[0, 1]), (10, &[0]), (40, &[0])]);
    let tasks = [TrainingTask {
        min_nodes: 2,
        ..task("a", 1e9)
    }];
    let silent = Stubborn(Allocation::without_plan(Status::Unknown));
    let mut decider = SolverDecider::of(Box::new(silent), Limits::default());
    let outcome = replay(&log, &tasks, &options(100.0, 1), &mut decider).unwrap();
    audit(&log, &tasks, &outcome);
    let s = &outcome.summary;
    let found = [
        s.idle_node_seconds,
        s.before_completion_node_seconds,
        s.below_minimum_node_seconds,
        s.gross_work,
    ];
    assert_eq!(found, [50.0, 20.0, 30.0, 180.0]);
}

#[test]
fn the_replay_ends_with_the_last_task() {
    let log = log(2, &[(0, &[0, 1]), (1000, &[0]), (2000, &[]), (3000, &[1])]);
    let outcome = run(&log, &[task("a", 100.0)], &options(100.0, 10));
    assert_eq!(outcome.steps.len(), 1);
    let last = &outcome.steps[0];
    // The original replayer's last row contains the rate before the last completion.
    assert_eq!(
        (last.tasks_active, last.rate, last.progress),
        (0, 18.0, 100.0)
    );
    assert_eq!(last.status, StepStatus::Trivial);
}

#[test]
fn tasks_join_in_file_order_once_submitted() {
    let log = log(1, &[(0, &[0]), (10, &[]), (20, &[0]), (30, &[])]);
    let at = |name: &str, seconds: i64| TrainingTask {
        submit: Utc::from_seconds(seconds),
        ..task(name, 1e9)
    };
    let tasks = [
        at("late", 15),
        at("second", 5),
        at("first", 0),
        at("never", 100),
    ];
    let outcome = run(&log, &tasks, &options(10.0, 2));
    let active: Vec<_> = outcome.steps.iter().map(|r| r.tasks_active).collect();
    assert_eq!(active, [2, 2, 2]);
    let unlimited = run(&log, &tasks, &options(10.0, 9));
    let active: Vec<_> = unlimited.steps.iter().map(|r| r.tasks_active).collect();
    assert_eq!(active, [2, 3, 3]);
}

/// A solver that returns the same plan with the same status for every problem.
struct Stubborn(Allocation);

impl Solver for Stubborn {
    fn name(&self) -> &str {
        "stubborn"
    }

    fn solve(&mut self, problem: &Problem, _: &Limits) -> Result<Allocation, SolveError> {
        let counts = self.0.counts.clone();
        let objective = counts.as_ref().map(|c| problem.objective(c));
        Ok(Allocation {
            objective,
            ..self.0.clone()
        })
    }
}

#[test]
fn without_a_better_plan_in_time_nothing_changes_and_nothing_is_charged() {
    let log = log(2, &[(0, &[0]), (100, &[0, 1]), (200, &[1])]);
    for (status, counts, expected) in [
        (Status::Unknown, None, StepStatus::Kept),
        (Status::Feasible, Some(vec![0]), StepStatus::Kept),
        (Status::Feasible, Some(vec![2]), StepStatus::Feasible),
        (Status::Optimal, Some(vec![0]), StepStatus::Optimal),
    ] {
        let answer = Allocation {
            counts,
            ..Allocation::without_plan(status)
        };
        let mut decider = SolverDecider::of(Box::new(Stubborn(answer)), Limits::default());
        // The last event is left out: only one node is idle then, but one of the plans uses two nodes.
        let two_events = first_events(&log, 2);
        let options = options(1000.0, 1);
        let outcome = replay(&two_events, &[task("a", 1e9)], &options, &mut decider).unwrap();
        let row = &outcome.steps[0];
        assert_eq!(
            (row.status, outcome.summary.solver.as_str()),
            (expected, "stubborn")
        );
        if expected == StepStatus::Kept {
            assert_eq!((row.rate, row.rescale_cost, row.nodes_used), (10.0, 0.0, 1));
            assert_eq!(outcome.summary.events_kept, 1);
        }
    }
}

#[test]
fn a_plan_beyond_the_idle_nodes_is_an_error_not_a_panic() {
    let log = log(2, &[(0, &[0]), (100, &[1])]);
    let answer = Allocation {
        counts: Some(vec![2]),
        ..Allocation::without_plan(Status::Optimal)
    };
    let mut decider = SolverDecider::of(Box::new(Stubborn(answer)), Limits::default());
    let result = replay(&log, &[task("a", 1e9)], &options(1000.0, 1), &mut decider);
    let message = result.unwrap_err().to_string();
    assert_eq!(
        message,
        "the answer of stubborn at event 1, 1970-01-01 00:01:40, uses 2 nodes, expected at most 1"
    );
    let two = Allocation {
        counts: Some(vec![0, 0]),
        ..Allocation::without_plan(Status::Optimal)
    };
    let mut decider = SolverDecider::of(Box::new(Stubborn(two)), Limits::default());
    let result = replay(&log, &[task("a", 1e9)], &options(1000.0, 1), &mut decider);
    assert!(result.unwrap_err().to_string().contains("has 2 counts"));
}

#[test]
fn tasks_that_no_reader_accepts_are_errors() {
    let log = log(2, &[(0, &[0]), (100, &[1])]);
    let valid = || task("a", 1e9);
    let short = ScalingCurve {
        progress: [0.0].into(),
        ..valid().curve
    };
    let wrong = [
        TrainingTask {
            min_nodes: 0,
            ..valid()
        },
        TrainingTask {
            max_nodes: 0,
            ..valid()
        },
        TrainingTask {
            rescale_up: f64::NAN,
            ..valid()
        },
        TrainingTask {
            work: 0.0,
            ..valid()
        },
        TrainingTask {
            curve: short,
            ..valid()
        },
    ];
    for task in wrong {
        let mut decider = solver(SolverKind::Exact);
        let result = replay(
            &log,
            std::slice::from_ref(&task),
            &options(60.0, 1),
            &mut decider,
        );
        assert!(result.is_err(), "{task:?}");
    }
    let mut decider = solver(SolverKind::Exact);
    let twice = [valid(), valid()];
    assert!(replay(&log, &twice, &options(60.0, 1), &mut decider).is_err());
    assert!(replay(&log, &twice[..1], &options(f64::NAN, 1), &mut decider).is_err());
    assert!(replay(&log, &twice[..1], &options(60.0, 1), &mut decider).is_ok());
}

/// Runs a script of (event, task, node) triples for two tasks. Nodes 0 and 1 are idle at first; node 2 is always busy.
fn scripted(lines: &[(usize, &str, u32)]) -> gleaner_domain::Result<Outcome> {
    let log = log(3, &[(0, &[0, 1]), (100, &[0, 1]), (200, &[0])]);
    let mut script = Script {
        file: "alloc.jsonl".into(),
        ..Script::default()
    };
    for &(event, task, node) in lines {
        let nodes = script.events.entry(event).or_default();
        nodes.entry(task.to_string()).or_default().push(node);
    }
    let options = Options {
        initial: Initial::Solve,
        ..options(1000.0, 2)
    };
    replay(
        &log,
        &[task("a", 1e9), task("b", 1e9)],
        &options,
        &mut script,
    )
}

#[test]
fn impossible_scripts_are_refused() {
    let whole = scripted(&[(0, "a", 0), (1, "a", 0), (2, "a", 0)]);
    assert_eq!(whole.unwrap().steps.len(), 2);
    let ends_early = scripted(&[(0, "a", 0), (1, "a", 0)]);
    assert_eq!(ends_early.unwrap().steps.len(), 1);
    for (lines, reason) in [
        (&[(0, "a", 0), (2, "a", 0)][..], "event 1"),
        (&[(0, "c", 0)], "nodes for c"),
        (&[(0, "a", 2)], "not idle"),
        (&[(0, "a", 0), (0, "b", 0)], "another task's node"),
        (&[(0, "a", 0), (1, "a", 1)], "moves to other nodes"),
        (&[(0, "a", 1), (1, "a", 1), (2, "a", 1)], "not idle"),
    ] {
        let error = scripted(lines).unwrap_err();
        assert!(error.to_string().contains(reason), "{reason} in {error}");
        // A script is an input, so its faults are reported as faults in a file.
        assert_eq!(error.exit_code(), 3, "{error}");
        assert!(error.to_string().contains("alloc.jsonl, event "), "{error}");
    }
}

proptest! {
    #![proptest_config(gleaner_testing::cases(96))]

    #[test]
    fn every_replay_passes_the_audit(
        nodes in 1u32..30,
        count in 1u32..12,
        seed in any::<u64>(),
        t_fwd in 1.0f64..1000.0,
        max_tasks in 1usize..12,
        hours in 0.05f64..4.0,
        submit_every in prop_oneof![Just(0.0), 0.0f64..9000.0],
        initial in prop_oneof![Just(Initial::Random), Just(Initial::Solve), Just(Initial::Empty)],
        completion_events in any::<bool>(),
        kind in prop_oneof![Just(SolverKind::Exact), Just(SolverKind::EqualShare)],
        node_choice in prop::sample::select(&NodeRule::ALL),
    ) {
        let start = Utc::from_seconds(1_700_000_000);
        let log = gleaner_synth::events::generate(&gleaner_synth::events::EventOptions {
            nodes,
            days: 0.3,
            start,
            idle_share: 0.3,
            fragment: gleaner_synth::events::FragmentLength::LogNormal { median: 600.0, sigma: 1.2 },
            poll: 60,
            seed,
        }, &Unobserved).unwrap();
        let tasks = gleaner_synth::tasks::generate(&gleaner_synth::tasks::TaskOptions {
            count,
            models: 3,
            max_nodes: 9,
            hours,
            start: Some(start),
            submit_every,
            seed,
        }).unwrap();
        let log = log.slice(Default::default()).unwrap();
        let options = Options { initial, seed, completion_events, node_choice, bound: true, ..options(t_fwd, max_tasks) };
        let outcome = replay(&log, &tasks, &options, &mut solver(kind)).unwrap();
        audit(&log, &tasks, &outcome);
    }
}

/// A decider that uses a solver and fails on invalid problems.
struct Strict(SolverDecider);

impl Decider for Strict {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn decide(&mut self, event: usize, problem: &Problem) -> gleaner_domain::Result<Decision> {
        assert_eq!(problem.validate(), Vec::<String>::new());
        self.0.decide(event, problem)
    }
}

/// A task whose numbers include the smallest and largest that a file may contain.
fn edge_task(window: f64) -> impl Strategy<Value = TrainingTask> {
    let rate = || prop::sample::select(vec![0.0, 1e-30, 1e-3, 1.0, 1e9, 1e30]);
    let cost = move || {
        let most = (range::LOSS * window).min(*range::RESCALE.end());
        prop::sample::select(vec![0.0, 1e-300, 1.0f64.min(most), most])
    };
    let curve = prop::collection::vec((1u32..5, rate(), rate()), 1..5);
    let priority = prop::sample::select(vec![1e-30, 1.0, 1e30]);
    (curve, any::<bool>(), cost(), cost(), priority, 1u32..4).prop_map(
        |(points, is_long, rescale_up, rescale_down, priority, min_nodes)| {
            let mut nodes = vec![0];
            nodes.extend(points.iter().scan(0, |at, (width, ..)| {
                *at += width;
                Some(*at)
            }));
            if is_long {
                nodes[points.len()] = u32::MAX;
            }
            let last = nodes[points.len()];
            let progress = std::iter::once(0.0).chain(points.iter().map(|p| p.1));
            let objective = std::iter::once(0.0).chain(points.iter().map(|p| p.2));
            TrainingTask {
                rescale_up,
                rescale_down,
                priority,
                min_nodes: min_nodes.min(last),
                max_nodes: last,
                curve: ScalingCurve {
                    nodes: nodes.into(),
                    progress: progress.collect(),
                    objective: objective.collect(),
                },
                ..task("", 1e300)
            }
        },
    )
}

proptest! {
    #![proptest_config(gleaner_testing::slow_cases(200, 10))]

    // At every event, tasks that the readers accept must produce a problem within the solvers' range.
    #[test]
    fn tasks_at_the_edges_of_the_ranges_make_valid_problems(
        (window, mut tasks) in prop::sample::select(vec![1e-6, 1.0, 1e12]).prop_flat_map(
            |window| (Just(window), prop::collection::vec(edge_task(window), 1..5))
        ),
        objective in prop::sample::select(NAMED).prop_map(|named| named.name.parse::<Objective>().unwrap()),
    ) {
        for (i, task) in tasks.iter_mut().enumerate() {
            task.name = format!("t{i}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tasks.json");
        gleaner_inputs::write::tasks::write(&tasks, &path).unwrap();
        let read = gleaner_inputs::tasks::read(&path, None, false).unwrap();
        let set = read.value.within_window(window, false).unwrap();
        prop_assert_eq!(&set.tasks, &tasks);

        let rows: [(i64, &[u32]); 5] =
            [(0, &[0, 1, 2, 3]), (9, &[0, 1, 2]), (50, &[0]), (60, &[0, 2, 3]), (99, &[])];
        let options = Options { objective, ..options(window, 3) };
        for kind in [SolverKind::Exact, SolverKind::EqualShare] {
            let outcome = replay(&log(4, &rows), &tasks, &options, &mut Strict(solver(kind)));
            let summary = outcome.unwrap().summary;
            prop_assert!(summary.total_work.is_finite() && summary.dedicated_work.is_finite());
        }
    }
}
