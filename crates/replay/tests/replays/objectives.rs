//! What a replay maximises, and how evenly it treats its tasks.

use gleaner_core::domain::Slice;
use gleaner_core::domain::{
    Change, EventLog, EventLogBuilder, Objective, ScalingCurve, Stamp, Time, TrainingTask,
};
use gleaner_core::results::replay::Outcome;
use gleaner_core::results::replay::StepStatus;
use gleaner_replay::Options;
use gleaner_solvers::{BigM, SolverKind};

use crate::audit::audit;
use crate::support::{options, replay, solver};

fn samples() -> (EventLog, Vec<TrainingTask>) {
    let dataset = gleaner_testing::workspace().join("dataset");
    let log = gleaner_formats::ingest::events::read(&dataset.join("idle.csv")).unwrap();
    let tasks =
        gleaner_formats::ingest::tasks::read(&dataset.join("tasks.toml"), None, false).unwrap();
    (
        log.value.slice(Slice::default()).unwrap(),
        tasks.value.tasks,
    )
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
    let outcomes = Objective::ALL.map(|o| run(&log, &tasks, o, SolverKind::Exact));
    for (objective, outcome) in Objective::ALL.iter().zip(&outcomes) {
        let summary = &outcome.summary;
        assert_eq!(summary.events_optimal, summary.events, "{objective}");
        assert_eq!(summary.objective, *objective);
        let jain = summary.fairness_jain.unwrap();
        assert!(jain > 1.0 / tasks.len() as f64 && jain <= 1.0, "{jain}");
        let shares = outcome.tasks.iter().filter_map(|t| t.normalised_progress);
        assert_eq!(summary.fairness_min, shares.reduce(f64::min));
    }
    // The samples' curves have no objective of their own, and the tasks no priority.
    let [file, throughput, _, weighted, fair] = &outcomes;
    assert_eq!(file.steps.len(), throughput.steps.len());
    for other in [throughput, weighted] {
        assert_eq!(file.summary.total_work, other.summary.total_work);
    }
    assert!(fair.summary.fairness_jain > file.summary.fairness_jain);
}

/// `count` nodes idle from second 0. Node 0 is busy from second 10 to 1000, the end of the log.
fn idle(count: u32) -> EventLog {
    let mut log = EventLogBuilder::new((0..count).map(|n| format!("n{n}")).collect());
    log.push_row(
        Time::from_seconds(0),
        (0..count).map(|n| Change::new(n, true)),
    );
    log.push_row(Time::from_seconds(10), [Change::new(0, false)]);
    log.push_row(Time::from_seconds(1000), [Change::new(0, true)]);
    log.finish()
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
        curve: ScalingCurve {
            nodes: [0, 4].into(),
            progress: [0.0, 4.0 * speed].into(),
            objective: [0.0, 4.0].into(),
        },
    }
}

/// Node-seconds of each task over seconds 10 to 1000.
fn held(objective: Objective, tasks: &[TrainingTask]) -> Vec<f64> {
    let outcome = run(&idle(5), tasks, objective, SolverKind::Exact);
    assert_eq!(outcome.steps[0].status, StepStatus::Optimal);
    let late = outcome
        .allocations
        .iter()
        .filter(|a| a.from >= Time::from_seconds(10) || a.to > Time::from_seconds(10));
    let mut sums = vec![0.0; tasks.len()];
    for row in late {
        let from = row.from.max(Time::from_seconds(10));
        sums[row.task as usize] += row.to.seconds_since(from).max(0.0);
    }
    sums
}

// Small fixed example: four nodes for two tasks, each of which can use all four.
#[test]
fn objectives_prefer_different_tasks() {
    let equal = [task("slow", 1.0, 1.0), task("fast", 9.0, 1.0)];
    assert_eq!(held(Objective::Throughput, &equal), [0.0, 4.0 * 990.0]);
    assert_eq!(
        held(Objective::ShareFair, &equal),
        [2.0 * 990.0, 2.0 * 990.0]
    );
    let urgent = [task("slow", 1.0, 5.0), task("fast", 9.0, 1.0)];
    assert_eq!(
        held(Objective::PriorityWeighted, &urgent),
        [4.0 * 990.0, 0.0]
    );
}

#[test]
fn a_slice_by_time_has_the_state_at_its_start() {
    let (log, _) = samples();
    let (from, to) = (log.times()[100], log.times()[300]);
    let cut = log.slice(Slice {
        from: Some(Stamp::Local(from)),
        to: Some(Stamp::Local(to)),
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
