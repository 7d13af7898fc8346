//! Recomputes a replay's tables from its allocation intervals, the log and the tasks.
//!
//! It shares no code with the engine. It keeps a dense state of every node, goes through the events
//! again, and compares what it finds with every table.

use std::collections::BTreeMap;

use gleaner_core::domain::{EventLog, TaskGroup, Time, TrainingTask};
use gleaner_core::results::replay::Outcome;
use gleaner_core::results::replay::StepStatus;

/// Panics if the outcome contradicts itself, the log or the tasks.
pub fn audit(log: &EventLog, tasks: &[TrainingTask], outcome: &Outcome) {
    intervals_are_sound(log, outcome);
    let held = held_after_steps(log, outcome);
    rows_match_intervals(tasks, outcome, &held);
    accounts_match_intervals(tasks, outcome);
    totals_add_up(outcome);
    it_is_verified(log, tasks, &[], outcome);
}

/// The verification of `gleaner check` finds nothing wrong.
pub fn it_is_verified(
    log: &EventLog,
    tasks: &[TrainingTask],
    groups: &[TaskGroup],
    outcome: &Outcome,
) {
    let written = gleaner_check::replay::Written {
        steps: &outcome.steps,
        tasks: &outcome.tasks,
        allocations: &outcome.allocations,
        nodes: log.nodes(),
        summary: &outcome.summary,
    };
    let findings = gleaner_check::replay::replay(log, tasks, groups, &written);
    assert_eq!(findings.count, 0, "{:#?}", findings.sentences);
}

/// Asserts that no node is held twice, or while it is busy.
fn intervals_are_sound(log: &EventLog, outcome: &Outcome) {
    let mut idle: Vec<Vec<(Time, Time)>> = vec![Vec::new(); log.nodes().len()];
    let end = *log.times().last().unwrap();
    let mut since = vec![None; log.nodes().len()];
    for (time, changes) in log.rows() {
        for c in changes {
            let node = c.node() as usize;
            match (c.idle(), since[node]) {
                (true, _) => since[node] = Some(time),
                (false, Some(from)) => idle[node].push((from, time)),
                (false, None) => panic!("node {node} leaves without having joined"),
            }
            if !c.idle() {
                since[node] = None;
            }
        }
    }
    for (node, from) in since.into_iter().enumerate() {
        idle[node].extend(from.map(|from| (from, end)));
    }
    let mut by_node: BTreeMap<u32, Vec<(Time, Time)>> = BTreeMap::new();
    for a in &outcome.allocations {
        assert!(a.from < a.to, "{a:?}");
        let inside = idle[a.node as usize]
            .iter()
            .any(|&(from, to)| from <= a.from && a.to <= to);
        assert!(inside, "{a:?} is not within an idle span");
        by_node.entry(a.node).or_default().push((a.from, a.to));
    }
    for (node, mut spans) in by_node {
        spans.sort_unstable();
        for pair in spans.windows(2) {
            assert!(
                pair[0].1 <= pair[1].0,
                "node {node} is held twice: {pair:?}"
            );
        }
    }
}

/// The nodes that each task holds right after each step, by time, from the intervals alone.
fn held_after_steps(log: &EventLog, outcome: &Outcome) -> Vec<BTreeMap<u32, u32>> {
    let times: Vec<Time> = std::iter::once(log.times()[0])
        .chain(outcome.steps.iter().map(|s| s.time))
        .collect();
    let mut held = vec![BTreeMap::new(); times.len()];
    for a in &outcome.allocations {
        let first = times.partition_point(|&t| t < a.from);
        let last = times.partition_point(|&t| t < a.to);
        for step in &mut held[first..last] {
            *step.entry(a.task).or_insert(0) += 1;
        }
    }
    held
}

/// Asserts that progress, rates, costs and counts of every row follow from which task held how many
/// nodes.
fn rows_match_intervals(tasks: &[TrainingTask], outcome: &Outcome, held: &[BTreeMap<u32, u32>]) {
    let rate = |task: u32, count: u32| {
        let task = &tasks[task as usize];
        if count >= task.min_nodes {
            task.curve.progress_at(count)
        } else {
            0.0
        }
    };
    // The last step's allocation has no length in time, so no interval shows it.
    let shown = outcome.steps.len().saturating_sub(1);
    for (i, row) in outcome.steps.iter().enumerate().take(shown) {
        let now = &held[i + 1];
        if row.status == StepStatus::Trivial {
            assert_eq!((row.nodes_used, now.len()), (0, 0), "{row:?}");
            continue;
        }
        assert_eq!(row.nodes_used, now.values().sum::<u32>(), "{row:?}");
        assert_eq!(row.tasks_running as usize, now.len(), "{row:?}");
        assert!(row.nodes_used <= row.nodes_idle, "{row:?}");
        let expected: f64 = now.iter().map(|(&task, &count)| rate(task, count)).sum();
        assert!(close(row.rate, expected), "{row:?}: rate {expected}");
        for (&task, &count) in now {
            assert!(count <= tasks[task as usize].max_nodes, "{row:?}");
        }
    }
}

fn accounts_match_intervals(tasks: &[TrainingTask], outcome: &Outcome) {
    let mut node_seconds = vec![0.0; tasks.len()];
    for a in &outcome.allocations {
        node_seconds[a.task as usize] += a.to.seconds_since(a.from);
    }
    for (row, seconds) in outcome.tasks.iter().zip(node_seconds) {
        assert!(
            close(row.node_seconds, seconds),
            "{row:?}: {seconds} node-seconds"
        );
        assert!(row.work_done <= row.work, "{row:?}");
        assert_eq!(row.end.is_some(), row.work_done == row.work, "{row:?}");
    }
}

fn totals_add_up(outcome: &Outcome) {
    let s = &outcome.summary;
    let progress: f64 = outcome.steps.iter().map(|r| r.progress).sum();
    let done: f64 = outcome.tasks.iter().map(|t| t.work_done).sum();
    assert!(
        close(s.total_work, done) && close(progress, done),
        "{progress} {done} {s:?}"
    );
    assert!(
        s.used_node_seconds <= s.idle_node_seconds * (1.0 + 1e-9),
        "{s:?}"
    );
    assert!(
        s.total_work <= s.fluid_work * (1.0 + 1e-9),
        "more than the costless bound: {s:?}"
    );
    if let Some(bound) = s.bound_work {
        assert!(
            s.total_work <= bound * (1.0 + 1e-9),
            "more than the bound with hindsight: {s:?}"
        );
    }
    assert_eq!(s.events, outcome.steps.len());
    let finished = outcome.tasks.iter().filter(|t| t.end.is_some()).count();
    assert_eq!(s.tasks_finished, finished);
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-7 * a.abs().max(b.abs()).max(1.0)
}
