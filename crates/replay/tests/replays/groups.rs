//! Tests of groups of tasks with joint limits.

use std::sync::Arc;

use gleaner_check::replay::Inputs;
use gleaner_domain::results::replay::{Outcome, StepStatus};
use gleaner_domain::{
    Change, ClassTerms, EventLog, EventLogBuilder, ScalingCurve, TaskGroup, TrainingTask, Utc,
};
use gleaner_replay::{Initial, Options};
use gleaner_solvers::{BigM, SolverKind};
use proptest::prelude::*;

use crate::audit::{inputs, it_follows};
use crate::support::{options, replay, solver};

fn task(name: &str, min_nodes: u32, speed: f64) -> TrainingTask {
    TrainingTask {
        name: name.into(),
        submit: TrainingTask::FROM_START,
        min_nodes,
        max_nodes: 6,
        rescale_up: 1.0,
        rescale_down: 1.0,
        work: f64::INFINITY,
        priority: 1.0,
        deadline: None,
        rung: 0,
        classes: ClassTerms::default(),
        curve: ScalingCurve {
            nodes: [0, 6].into(),
            progress: [0.0, 6.0 * speed].into(),
            objective: [0.0, 6.0 * speed].into(),
        },
    }
}

fn group(name: &str, tasks: &[&str], min: Option<u32>, max: Option<u32>) -> TaskGroup {
    TaskGroup {
        name: name.into(),
        tasks: tasks.iter().map(|&task| task.to_owned()).collect(),
        min_nodes: min,
        max_nodes: max,
        ..TaskGroup::default()
    }
}

/// A log in which the number of idle nodes takes each of the given values in turn, for 100 s each.
fn log(idle: &[u32]) -> EventLog {
    // A log must have at least one node.
    let most = idle.iter().copied().max().unwrap().max(1);
    let mut log = EventLogBuilder::new((0..most).map(|n| format!("n{n}")).collect());
    let mut before = 0;
    for (second, &now) in (0..).step_by(100).zip(idle) {
        let joined = (before..now).map(|n| Change::new(n, true));
        let left = (now..before).map(|n| Change::new(n, false));
        log.push_row(Utc::from_seconds(second), joined.chain(left));
        before = now;
    }
    log.push_row(
        Utc::from_seconds(100 * idle.len() as i64),
        [Change::new(0, before == 0)],
    );
    log.finish().unwrap()
}

fn run(log: &EventLog, tasks: &[TrainingTask], groups: &[TaskGroup], options: Options) -> Outcome {
    let groups: Arc<[TaskGroup]> = groups.into();
    let options = Options {
        groups: groups.clone(),
        ..options
    };
    let mut decider = solver(SolverKind::Exact).checked(BigM::Corrected);
    let outcome = replay(log, tasks, &options, &mut decider).unwrap();
    let inputs = Inputs {
        repeat: options.repeat_tasks,
        ..inputs(log, tasks, &groups)
    };
    it_follows(&inputs, &outcome);
    outcome
}

fn solved() -> Options {
    Options {
        initial: Initial::Solve,
        ..options(60.0, 10)
    }
}

/// For each of the given times, the number of nodes that each task holds immediately afterwards.
fn held(outcome: &Outcome, seconds: &[i64]) -> Vec<Vec<usize>> {
    let at = |second: &i64| {
        let time = Utc::from_seconds(*second);
        let count = |task: usize| {
            let rows = outcome.allocations.iter();
            rows.filter(|a| a.task as usize == task && a.from <= time && time < a.to)
                .count()
        };
        (0..outcome.tasks.len()).map(count).collect()
    };
    seconds.iter().map(at).collect()
}

// Derived by hand: `fast` would take six nodes, but its group may hold at most four.
#[test]
fn a_group_holds_at_most_what_it_may() {
    let tasks = [task("fast", 1, 9.0), task("slow", 1, 1.0)];
    let limits = [group("fast ones", &["fast"], None, Some(4))];
    let outcome = run(&log(&[7, 7, 3]), &tasks, &limits, solved());
    assert_eq!(held(&outcome, &[0, 150, 250]), [[4, 3], [4, 3], [3, 0]]);
    assert_eq!(outcome.summary.events_short, None);
}

// Derived by hand: the group gets its minimum of three nodes as long as three are idle, and later
// the two nodes that are still idle. One node is too few for `slow`, so `fast` gets it.
#[test]
fn a_minimum_holds_as_far_as_it_can() {
    let tasks = [task("fast", 1, 9.0), task("slow", 2, 1.0)];
    let limits = [group("slow ones", &["slow"], Some(3), None)];
    let outcome = run(&log(&[8, 4, 2, 1, 8]), &tasks, &limits, solved());
    assert_eq!(
        held(&outcome, &[50, 150, 250, 350, 450]),
        [[5, 3], [1, 3], [0, 2], [1, 0], [5, 3]]
    );
    assert_eq!(outcome.summary.events_short, Some(2));
    assert!(
        outcome
            .steps
            .iter()
            .all(|row| row.status != StepStatus::Kept)
    );
}

#[test]
fn the_first_group_comes_first_where_both_cannot_have_their_fewest() {
    let tasks = [task("a", 1, 1.0), task("b", 1, 1.0)];
    let of = |names: [&str; 2]| {
        let limits = names.map(|name| group(name, &[name], Some(4), None));
        let outcome = run(&log(&[6, 6]), &tasks, &limits, solved());
        held(&outcome, &[150])[0].clone()
    };
    assert_eq!(of(["a", "b"]), [4, 2]);
    assert_eq!(of(["b", "a"]), [2, 4]);
}

#[test]
fn the_random_deal_keeps_within_groups() {
    let tasks = [task("a", 1, 1.0), task("b", 1, 1.0), task("c", 1, 1.0)];
    let limits = [group("a and b", &["a", "b"], None, Some(3))];
    for seed in 0..20 {
        let options = Options {
            seed,
            ..options(60.0, 10)
        };
        run(&log(&[9, 9]), &tasks, &limits, options);
    }
}

#[test]
fn tasks_of_later_rounds_are_in_the_groups_of_the_first() {
    let mut tasks = [task("a", 1, 1.0), task("b", 1, 1.0)];
    tasks.iter_mut().for_each(|task| task.work = 300.0);
    let limits = [group("a", &["a"], None, Some(2))];
    let options = Options {
        repeat_tasks: true,
        ..solved()
    };
    let outcome = run(&log(&[8; 12]), &tasks, &limits, options);
    assert!(outcome.summary.rounds > 1);
    for (row, task) in outcome.tasks.iter().zip(0..) {
        let most = if row.name.starts_with('a') { 2 } else { 6 };
        for second in (50..1200).step_by(100) {
            assert!(held(&outcome, &[second])[0][task] <= most, "{}", row.name);
        }
    }
}

proptest! {
    #![proptest_config(gleaner_testing::cases(100))]

    // Random nested limits, some of which cannot be met: every event still has a plan, and all
    // checks pass.
    #[test]
    fn a_replay_goes_on_whatever_the_groups_are(
        idle in prop::collection::vec(0u32..12, 2..8),
        mins in prop::collection::vec((1u32..4, 1u32..20), 4),
        limits in prop::collection::vec((prop::option::of(0u32..9), prop::option::of(0u32..9)), 3),
    ) {
        let names = ["a", "b", "c", "d"];
        let tasks: Vec<TrainingTask> = names
            .iter()
            .zip(&mins)
            .map(|(name, &(min, speed))| task(name, min, f64::from(speed)))
            .collect();
        let members: [&[&str]; 3] = [&["a", "b"], &["a", "b", "c"], &["d"]];
        let groups: Vec<TaskGroup> = members
            .iter()
            .zip(&limits)
            .zip(["x", "y", "z"])
            .map(|((tasks, &(min, max)), name)| {
                let max = max.map(|max| max.max(min.unwrap_or(0)));
                group(name, tasks, min, max)
            })
            .collect();
        let outcome = run(&log(&idle), &tasks, &groups, solved());
        prop_assert_eq!(outcome.summary.events_optimal, outcome.summary.events);
    }
}
