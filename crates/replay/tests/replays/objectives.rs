//! Tests of the objectives and the fairness figures of a replay.

use gleaner_domain::Slice;
use gleaner_domain::error::Result;
use gleaner_domain::objective::{NAMED, Named};
use gleaner_domain::results::replay::Outcome;
use gleaner_domain::results::replay::StepStatus;
use gleaner_domain::{
    Change, ClassTerms, EventLog, EventLogBuilder, Objective, ScalingCurve, Stamp, TrainingTask,
    Utc,
};
use gleaner_replay::{Decider, Decision, Initial, Options, Plan};
use gleaner_solvers::backends::Exact;
use gleaner_solvers::{BigM, Goal, Problem, SolverKind, Task};

use crate::audit::audit;
use crate::support::{options, replay, solver};

fn samples() -> (EventLog, Vec<TrainingTask>) {
    let dataset = gleaner_testing::workspace().join("dataset");
    let log = gleaner_inputs::events::read(&dataset.join("idle.csv")).unwrap();
    let tasks = gleaner_inputs::tasks::read(&dataset.join("tasks.toml"), None, false).unwrap();
    (
        log.value.slice(Slice::default()).unwrap(),
        tasks.value.tasks,
    )
}

fn objective(text: &str) -> Objective {
    text.parse().unwrap()
}

fn run(log: &EventLog, tasks: &[TrainingTask], objective: Objective, kind: SolverKind) -> Outcome {
    let options = Options {
        objective,
        ..options(120.0, 10)
    };
    let mut decider = solver(kind).checked(BigM::Corrected);
    let outcome = replay(log, tasks, &options, &mut decider).unwrap();
    audit(log, tasks, &outcome);
    outcome
}

#[test]
fn every_objective_is_proven_and_checked_at_every_event() {
    let (log, tasks) = samples();
    let by_name = |named: &Named| run(&log, &tasks, objective(named.name), SolverKind::Exact);
    let outcomes: Vec<Outcome> = NAMED.iter().map(by_name).collect();
    for (named, outcome) in NAMED.iter().zip(&outcomes) {
        let (summary, objective) = (&outcome.summary, objective(named.name));
        assert_eq!(summary.events_optimal, summary.events, "{objective}");
        assert_eq!(summary.objective, objective);
        let jain = summary.fairness_jain.unwrap();
        assert!(jain > 1.0 / tasks.len() as f64 && jain <= 1.0, "{jain}");
        let shares = outcome.tasks.iter().filter_map(|t| t.normalised_progress);
        assert_eq!(summary.fairness_min, shares.reduce(f64::min));
    }
    // The sample tasks have neither objective curves nor priorities, so the first two objectives and
    // the weighted objective must give the same results.
    let [file, throughput, _, weighted, fair, ..] = &outcomes[..] else {
        panic!("{} objectives", outcomes.len())
    };
    assert_eq!(file.steps.len(), throughput.steps.len());
    for other in [throughput, weighted] {
        assert_eq!(file.summary.total_work, other.summary.total_work);
    }
    assert!(fair.summary.fairness_jain > file.summary.fairness_jain);
}

/// A log of `count` nodes that become idle at second 0. Node 0 is busy from second 10 to second
/// 1000, the end of the log.
fn idle(count: u32) -> EventLog {
    let mut log = EventLogBuilder::new((0..count).map(|n| format!("n{n}")).collect());
    log.push_row(
        Utc::from_seconds(0),
        (0..count).map(|n| Change::new(n, true)),
    );
    log.push_row(Utc::from_seconds(10), [Change::new(0, false)]);
    log.push_row(Utc::from_seconds(1000), [Change::new(0, true)]);
    log.finish().unwrap()
}

fn task(name: &str, speed: f64, priority: f64) -> TrainingTask {
    TrainingTask {
        name: name.into(),
        submit: TrainingTask::FROM_START,
        min_nodes: 1,
        max_nodes: 4,
        rescale_up: 1.0,
        rescale_down: 1.0,
        work: 1e9,
        priority,
        deadline: None,
        rung: 0,
        classes: ClassTerms::default(),
        curve: ScalingCurve {
            nodes: [0, 4].into(),
            progress: [0.0, 4.0 * speed].into(),
            objective: [0.0, 4.0].into(),
        },
    }
}

/// Node-seconds that each task holds from second 10 to second 1000.
fn held(text: &str, tasks: &[TrainingTask]) -> Vec<f64> {
    let outcome = run(&idle(5), tasks, objective(text), SolverKind::Exact);
    assert_eq!(outcome.steps[0].status, StepStatus::Optimal);
    let late = outcome
        .allocations
        .iter()
        .filter(|a| a.from >= Utc::from_seconds(10) || a.to > Utc::from_seconds(10));
    let mut sums = vec![0.0; tasks.len()];
    for row in late {
        let from = row.from.max(Utc::from_seconds(10));
        sums[row.task as usize] += row.to.seconds_since(from).max(0.0);
    }
    sums
}

// Four nodes are idle for two tasks, each of which can use all four.
#[test]
fn objectives_prefer_different_tasks() {
    let equal = [task("slow", 1.0, 1.0), task("fast", 9.0, 1.0)];
    assert_eq!(held("throughput", &equal), [0.0, 4.0 * 990.0]);
    assert_eq!(held("share-fair", &equal), [2.0 * 990.0, 2.0 * 990.0]);
    let urgent = [task("slow", 1.0, 5.0), task("fast", 9.0, 1.0)];
    assert_eq!(held("priority-weighted", &urgent), [4.0 * 990.0, 0.0]);
}

/// A decider that gives the first task all nodes, and records at each decision the task's objective
/// value on four nodes.
#[derive(Default)]
struct Values(Vec<f64>);

impl Decider for Values {
    fn name(&self) -> &str {
        "values"
    }

    fn decide(&mut self, _: usize, problem: &Problem) -> Result<Decision> {
        self.0.push(problem.tasks[0].objective_rate(4));
        let first = problem.nodes.min(problem.tasks[0].cap());
        let mut counts = vec![0; problem.tasks.len()];
        counts[0] = first;
        Ok(Decision {
            plan: Plan::Counts(counts),
            status: StepStatus::Feasible,
            gap: None,
            micros: 0,
            is_short: false,
            prices: Vec::new(),
        })
    }
}

/// The values of an objective for a task with a deadline at second 100. The log has five nodes. Four of them are idle
/// from second 0 to 10, and from second 50 to the end of the log. The fifth node is idle from second 70 to 120. The
/// task cannot use this node, which only adds two events to the log.
fn course(text: &str) -> Vec<f64> {
    let mut log = EventLogBuilder::new((0..5).map(|n| format!("n{n}")).collect());
    let second = Utc::from_seconds;
    let all = |idle| (0..4).map(move |n| Change::new(n, idle));
    log.push_row(second(0), all(true));
    log.push_row(second(10), all(false));
    log.push_row(second(50), all(true));
    log.push_row(second(70), [Change::new(4, true)]);
    log.push_row(second(120), [Change::new(4, false)]);
    let mut task = task("t", 1.0, 2.0);
    (task.rescale_up, task.rescale_down) = (0.0, 0.0);
    (task.work, task.deadline) = (1000.0, Some(second(100)));
    let options = Options {
        objective: objective(text),
        initial: Initial::Solve,
        ..options(60.0, 10)
    };
    let mut values = Values::default();
    replay(&log.finish().unwrap(), &[task], &options, &mut values).unwrap();
    values.0
}

// Derived by hand: the task does 4 units of work per second, except from second 10 to second 50.
#[test]
fn values_follow_the_tasks_course() {
    assert_eq!(course("rate"), [4.0; 4]);
    assert_eq!(course("done + 1"), [1.0, 41.0, 121.0, 321.0]);
    assert_eq!(course("rate * left"), [4000.0, 3840.0, 3520.0, 2720.0]);
    assert_eq!(course("waited + 1"), [1.0, 41.0, 41.0, 41.0]);
    assert_eq!(course("max(0, deadline)"), [100.0, 50.0, 30.0, 0.0]);
    assert_eq!(course("priority * min(rate, 3)"), [6.0; 4]);
}

#[test]
fn a_value_out_of_range_ends_the_replay_and_says_why() {
    let (log, tasks) = samples();
    let options = Options {
        objective: objective("rate * (100 - waited)"),
        ..options(120.0, 10)
    };
    let error = replay(&log, &tasks, &options, &mut solver(SolverKind::Exact)).unwrap_err();
    let told = error.to_string();
    assert!(
        told.contains("the objective \"rate * (100 - waited)\" is -"),
        "{told}"
    );
    assert_eq!(error.exit_code(), 1);
}

#[test]
fn an_expression_gives_the_run_of_the_name_that_stands_for_it() {
    let (log, tasks) = samples();
    for named in NAMED {
        let name = objective(named.name);
        let by_name = run(&log, &tasks, name.clone(), SolverKind::Exact);
        let expression = objective(&name.expression());
        let by_expression = run(&log, &tasks, expression, SolverKind::Exact);
        assert_eq!(by_name.steps, by_expression.steps, "{}", named.name);
        assert_eq!(
            by_expression.summary.objective_expression,
            name.expression()
        );
    }
}

// The example in docs/OBJECTIVES.md.
#[test]
fn the_documented_example_is_as_documented() {
    let solved = |name: &str, current, rates: [f64; 5]| Task {
        name: name.into(),
        min_nodes: 2,
        max_nodes: 6,
        rescale_up: 20.0,
        rescale_down: 10.0,
        curve_nodes: [0, 2, 3, 4, 5, 6].into(),
        curve_objective: [0.0, rates[0], rates[1], rates[2], rates[3], rates[4]].into(),
        weight: 1.0,
        current,
    };
    let mut problem = Problem {
        id: String::new(),
        nodes: 8,
        t_fwd: 120.0,
        tasks: vec![
            solved("a", 4, [16.0, 23.0, 30.0, 35.0, 40.0]),
            solved("b", 2, [10.0, 14.0, 18.0, 20.0, 22.0]),
        ],
        groups: Vec::new(),
        goal: Goal::Total,
    };
    let plans = [[4, 2], [5, 3], [6, 2], [4, 4]];
    let values = plans.map(|plan| problem.objective(&plan));
    assert_eq!(values, [4800.0, 5080.0, 5400.0, 5560.0]);
    let mut exact = Exact::new(BigM::Corrected);
    assert_eq!(exact.optimal_counts(&problem), Some(&[4, 4][..]));
    problem.t_fwd = 20.0;
    assert_eq!(exact.optimal_counts(&problem), Some(&[4, 2][..]));
    assert_eq!(problem.objective(&[4, 2]), 800.0);
    assert_eq!(problem.objective(&[4, 4]), 760.0);
    // Below its minimum number of nodes, a task earns nothing, and a rescale costs it nothing.
    problem.tasks[1].current = 1;
    assert_eq!(problem.objective(&[4, 4]), 20.0 * 30.0 + 20.0 * 18.0);
}

#[test]
fn deadlines_are_met_where_the_objective_looks_at_them() {
    let mut tasks = [task("due", 1.0, 1.0), task("other", 1.0, 1.0)];
    tasks[0].work = 3000.0;
    tasks[0].deadline = Some(Utc::from_seconds(1000));
    let met = |text| {
        let summary = run(&idle(5), &tasks, objective(text), SolverKind::Exact).summary;
        assert_eq!(summary.deadlines, Some(1));
        summary.deadlines_met
    };
    assert_eq!(met("deadline"), Some(1));
    assert_eq!(met("share-fair"), Some(0));
}

#[test]
fn a_slice_by_time_has_the_state_at_its_start() {
    let (log, _) = samples();
    let (from, to) = (log.times()[100], log.times()[300]);
    let cut = log.slice(Slice {
        from: Some(Stamp::Epoch(from)),
        to: Some(Stamp::Epoch(to)),
        ..Slice::default()
    });
    let skipped = log.slice(Slice {
        skip_rows: log.times().partition_point(|&t| t < from),
        ..Slice::default()
    });
    let (cut, skipped) = (cut.unwrap(), skipped.unwrap());
    assert_eq!((cut.times()[0], cut.times()[cut.len() - 1]), (from, to));
    assert_eq!(cut.changes(0), skipped.changes(0));
}
