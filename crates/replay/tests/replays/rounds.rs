//! Endless tasks, and sets of tasks that are submitted again.

use gleaner_core::domain::TrainingTask;
use gleaner_core::results::replay::Outcome;
use gleaner_core::results::replay::{Ended, EventKind};
use gleaner_replay::{Initial, Options};
use gleaner_solvers::SolverKind;
use proptest::prelude::*;

use crate::audit::audit;
use crate::efficiency::{counts, task};
use crate::support::{options, replay, solver};

fn repeated(rows: &[(i64, u32)], tasks: &[TrainingTask], change: Options) -> Outcome {
    let options = Options {
        repeat_tasks: true,
        ..change
    };
    let log = counts(4, rows);
    replay(&log, tasks, &options, &mut solver(SolverKind::Exact)).unwrap()
}

// By hand: one node is always idle, and there are events every 10 s. Task a has done its 15 units
// of work at the event at 20 s. Task b is submitted at 25 s, has the node from 30 s, and is done at
// 50 s.
#[test]
fn a_set_is_submitted_again_at_the_event_that_completes_it() {
    let rows: Vec<(i64, u32)> = (0..=10).map(|k| (10 * k, 1 + (k % 2) as u32)).collect();
    let tasks = [task("a", 0, 15.0, &[1.0]), task("b", 25, 15.0, &[1.0])];
    let start = Options {
        initial: Initial::Solve,
        ..options(60.0, 2)
    };
    let outcome = repeated(&rows, &tasks, start);
    let told: Vec<(&str, i64, Option<i64>)> = outcome
        .tasks
        .iter()
        .map(|t| {
            (
                t.name.as_str(),
                t.submit.second(),
                t.end.map(|end| end.second()),
            )
        })
        .collect();
    let expected = [
        ("a", 0, Some(20)),
        ("b", 25, Some(50)),
        ("a#2", 50, Some(70)),
        ("b#2", 75, Some(100)),
        ("a#3", 100, None),
        ("b#3", 125, None),
    ];
    assert_eq!(told, expected);
    let summary = &outcome.summary;
    assert_eq!(
        (summary.rounds, summary.tasks, summary.tasks_finished),
        (3, 6, 4)
    );
    assert_eq!(summary.ended, Ended::LogEnded);
}

#[test]
fn endless_tasks_use_nodes_to_the_end_of_the_log() {
    let log = counts(4, &[(0, 2), (50, 3), (100, 1), (1000, 0), (1100, 2)]);
    for completion_events in [false, true] {
        let options = Options {
            completion_events,
            ..options(60.0, 4)
        };
        let tasks = [
            task("endless", 0, f64::INFINITY, &[1.0, 2.0, 3.0]),
            task("short", 0, 10.0, &[1.0]),
        ];
        let outcome = replay(&log, &tasks, &options, &mut solver(SolverKind::Exact)).unwrap();
        audit(&log, &tasks, &outcome);
        let summary = &outcome.summary;
        assert_eq!(summary.ended, Ended::LogEnded);
        assert_eq!((summary.tasks_finished, summary.tasks_endless), (1, 1));
        assert_eq!(outcome.tasks[0].end, None);
        assert!(outcome.tasks[0].work_done > 900.0);
        let completions =
            |s: &&gleaner_core::results::replay::StepRow| s.kind == EventKind::Completion;
        let expected = usize::from(completion_events);
        assert_eq!(outcome.steps.iter().filter(completions).count(), expected);
    }
}

proptest! {
    #![proptest_config(gleaner_testing::cases(128))]

    #[test]
    fn repeated_tasks_pass_the_audit(
        gaps in prop::collection::vec((1i64..50, 0u32..=4), 2..60),
        set in prop::collection::vec((0i64..200, 1.0f64..200.0, 0.0f64..9.0), 1..4),
        max_tasks in 1usize..4,
        completion_events: bool,
        endless: bool,
    ) {
        let rows: Vec<(i64, u32)> = gaps.iter().scan(0, |at, &(gap, idle)| {
            *at += gap;
            Some((*at, idle))
        }).collect();
        let tasks: Vec<TrainingTask> = set.iter().enumerate().map(|(i, &(submit, work, cost))| TrainingTask {
            rescale_up: cost,
            rescale_down: cost / 2.0,
            ..task(&format!("t{i}"), submit, if endless { f64::INFINITY } else { work }, &[1.0, 1.7, 2.0])
        }).collect();
        let change = Options { completion_events, ..options(30.0, max_tasks) };
        let outcome = match endless {
            false => repeated(&rows, &tasks, change),
            true => replay(&counts(4, &rows), &tasks, &change, &mut solver(SolverKind::Exact)).unwrap(),
        };
        // The tasks of all rounds, with the names and times of the rows.
        let all: Vec<TrainingTask> = outcome.tasks.iter().enumerate().map(|(i, row)| TrainingTask {
            name: row.name.clone(),
            submit: row.submit,
            ..tasks[i % tasks.len()].clone()
        }).collect();
        prop_assert_eq!(all.len(), outcome.summary.rounds * tasks.len());
        audit(&counts(4, &rows), &all, &outcome);
        // A round begins only when the one before is done.
        for round in outcome.tasks.chunks(tasks.len()).collect::<Vec<_>>().windows(2) {
            let done = round[0].iter().map(|row| row.end).collect::<Option<Vec<_>>>();
            let first = round[1].iter().map(|row| row.submit).min();
            prop_assert_eq!(done.and_then(|ends| ends.into_iter().max()), first);
        }
    }
}
