//! Tests of endless tasks, and of sets of tasks that are resubmitted.

use gleaner_check::replay::Inputs;
use gleaner_domain::results::replay::Outcome;
use gleaner_domain::results::replay::{Ended, EventKind};
use gleaner_domain::{TrainingTask, Utc};
use gleaner_replay::{Initial, Options};
use gleaner_solvers::SolverKind;
use proptest::prelude::*;

use crate::audit::{audit, audit_tables, inputs, it_follows};
use crate::efficiency::{counts, task};
use crate::support::{options, replay, solver};

fn repeated(rows: &[(i64, u32)], tasks: &[TrainingTask], change: Options) -> Outcome {
    let options = Options {
        repeat_tasks: true,
        ..change
    };
    let log = counts(4, rows);
    let outcome = replay(&log, tasks, &options, &mut solver(SolverKind::Exact)).unwrap();
    let inputs = Inputs {
        repeat: true,
        ..inputs(&log, tasks, &[])
    };
    it_follows(&inputs, &outcome);
    outcome
}

// Derived by hand: two nodes are always idle, and there is an event every 10 s. Each task runs on one node and does one
// unit of work per second. The second round begins at 10 s, when `a` has finished and `b` is still running. In the
// second round, `b` starts when `a` has finished, so it runs from 20 s to 50 s.
#[test]
fn a_round_begins_as_soon_as_there_is_room_for_its_first_task() {
    let rows: Vec<(i64, u32)> = (0..=5).map(|k| (10 * k, 2 + (k % 2) as u32)).collect();
    let tasks = [task("a", 0, 10.0, &[1.0]), task("b", 0, 30.0, &[1.0])];
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
        ("a", 0, Some(10)),
        ("b", 0, Some(30)),
        ("a#2", 10, Some(20)),
        ("b#2", 10, Some(50)),
        ("a#3", 30, Some(40)),
        ("b#3", 30, None),
        ("a#4", 50, None),
        ("b#4", 50, None),
    ];
    assert_eq!(told, expected);
    let summary = &outcome.summary;
    assert_eq!(
        (summary.rounds, summary.tasks, summary.tasks_finished),
        (4, 8, 5)
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
            |s: &&gleaner_domain::results::replay::StepRow| s.kind == EventKind::Completion;
        let expected = usize::from(completion_events);
        assert_eq!(outcome.steps.iter().filter(completions).count(), expected);
    }
}

/// Recomputes the admissions from the rule and the end times alone. Asserts that the tables show the
/// same submission times, and the same number of active tasks at each event. Also asserts that the
/// summary shows the same number of rounds.
fn admissions_follow_the_rule(
    set: &[TrainingTask],
    outcome: &Outcome,
    start: Utc,
    max_tasks: usize,
    is_repeated: bool,
) {
    let rows = &outcome.tasks;
    let submits: Vec<Utc> = set.iter().map(|task| task.submit.max(start)).collect();
    let first = *submits.iter().min().unwrap();
    let mut waiting: Vec<(Utc, usize)> = submits.iter().copied().zip(0..).collect();
    let (mut active, mut rounds): (Vec<usize>, usize) = (Vec::new(), 1);
    let times = std::iter::once(start).chain(outcome.steps.iter().map(|row| row.time));
    for (event, now) in times.enumerate() {
        active.retain(|&task| rows[task].end.is_none_or(|end| end > now));
        loop {
            while active.len() < max_tasks
                && let Some(at) = waiting.iter().position(|&(submit, _)| submit <= now)
            {
                active.push(waiting.remove(at).1);
            }
            if !is_repeated || !waiting.is_empty() || active.len() >= max_tasks.min(set.len()) {
                break;
            }
            let after = |submit: &Utc| Utc(now.0 + submit.0 - first.0);
            let begin = rounds * set.len();
            waiting = submits.iter().map(after).zip(begin..).collect();
            for &(submit, task) in &waiting {
                assert_eq!(rows[task].submit, submit, "{}", rows[task].name);
            }
            rounds += 1;
        }
        if event > 0 {
            let row = &outcome.steps[event - 1];
            assert_eq!(row.tasks_active as usize, active.len(), "{row:?}");
        }
    }
    assert_eq!(outcome.summary.rounds, rounds);
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
        let outcome = if endless {
replay(&counts(4, &rows), &tasks, &change, &mut solver(SolverKind::Exact)).unwrap()
} else {
repeated(&rows, &tasks, change)
};
        // The tasks of all rounds, with the names and submission times in the table of tasks.
        let all: Vec<TrainingTask> = outcome.tasks.iter().enumerate().map(|(i, row)| TrainingTask {
            name: row.name.clone(),
            submit: row.submit,
            ..tasks[i % tasks.len()].clone()
        }).collect();
        prop_assert_eq!(all.len(), outcome.summary.rounds * tasks.len());
        audit_tables(&counts(4, &rows), &all, &outcome);
        admissions_follow_the_rule(&tasks, &outcome, counts(4, &rows).times()[0], max_tasks, !endless);
    }
}
