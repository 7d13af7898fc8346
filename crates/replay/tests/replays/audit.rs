//! Recomputes a replay's tables from its allocation intervals, the log and the tasks, and compares
//! the results with the engine's tables.
//!
//! The audit shares no code with the engine. It goes through the events again and tracks the state
//! of every node.

use std::collections::BTreeMap;

use gleaner_check::replay::Inputs;
use gleaner_domain::Unobserved;
use gleaner_domain::results::replay::{Outcome, StepRow, StepStatus, TaskRow};
use gleaner_domain::{EventLog, TaskGroup, TrainingTask, Utc};

/// Panics if the outcome contradicts itself, the log or the tasks.
pub fn audit(log: &EventLog, tasks: &[TrainingTask], outcome: &Outcome) {
    audit_tables(log, tasks, outcome);
    it_is_verified(log, tasks, &[], outcome);
}

/// Panics if the tables contradict each other, the log or the tasks. `tasks` contains the tasks of all
/// rounds.
pub fn audit_tables(log: &EventLog, tasks: &[TrainingTask], outcome: &Outcome) {
    intervals_are_sound(log, outcome);
    let held = held_after_steps(log, outcome);
    rows_match_intervals(tasks, outcome, &held);
    accounts_match_intervals(tasks, outcome);
    both_accounts_hold(log, tasks, outcome, &held);
    totals_add_up(outcome);
}

/// Asserts that the replay also passes the verification of `gleaner check`.
pub fn it_is_verified(
    log: &EventLog,
    tasks: &[TrainingTask],
    groups: &[TaskGroup],
    outcome: &Outcome,
) {
    it_follows(&inputs(log, tasks, groups), outcome);
}

/// The inputs of the verification, for a replay whose tasks do not belong to a search.
pub fn inputs<'a>(
    log: &'a EventLog,
    set: &'a [TrainingTask],
    groups: &'a [TaskGroup],
) -> Inputs<'a> {
    Inputs {
        log,
        set,
        groups,
        search: None,
        seed: 0,
        repeat: false,
        classes: None,
        min_fragment: None,
    }
}

/// Asserts that the verification of `gleaner check` finds no faults in a replay of these inputs.
pub fn it_follows(inputs: &Inputs<'_>, outcome: &Outcome) {
    let written = gleaner_check::replay::Written {
        steps: &outcome.steps,
        tasks: &outcome.tasks,
        allocations: &outcome.allocations,
        nodes: inputs.log.nodes(),
        class_of_node: None,
        delays: outcome.delays.as_deref(),
        classes: outcome.classes.as_ref(),
        summary: &outcome.summary,
        search: outcome.search.as_ref(),
    };
    let findings = gleaner_check::replay::replay(inputs, &written, &Unobserved).unwrap();
    assert_eq!(findings.wrong_count, 0, "{findings}");
}

/// Asserts that no node is held by two tasks at once, or while it is busy.
fn intervals_are_sound(log: &EventLog, outcome: &Outcome) {
    let mut idle: Vec<Vec<(Utc, Utc)>> = vec![Vec::new(); log.nodes().len()];
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
    let mut by_node: BTreeMap<u32, Vec<(Utc, Utc)>> = BTreeMap::new();
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

/// The number of nodes that each task holds at the start and immediately after each step, derived from
/// the intervals alone.
fn held_after_steps(log: &EventLog, outcome: &Outcome) -> Vec<BTreeMap<u32, u32>> {
    let times: Vec<Utc> = std::iter::once(log.times()[0])
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

/// Asserts that the rate and the counts of every row except the last follow from the number of nodes that each task
/// held.
fn rows_match_intervals(tasks: &[TrainingTask], outcome: &Outcome, held: &[BTreeMap<u32, u32>]) {
    // The allocation after the last step has no duration, so no interval shows it.
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
        let expected: f64 = now
            .iter()
            .map(|(&task, &count)| rate(&tasks[task as usize], count))
            .sum();
        assert!(close(row.rate, expected), "{row:?}: rate {expected}");
        for (&task, &count) in now {
            assert!(count <= tasks[task as usize].max_nodes, "{row:?}");
        }
    }
}

fn rate(task: &TrainingTask, count: u32) -> f64 {
    if count >= task.min_nodes {
        task.curve.progress_at(count)
    } else {
        0.0
    }
}

/// Asserts that the node-time and work accounts balance for each step, for each task and for the whole
/// run. Node-time and gross work (rate × time) are computed from the intervals.
fn both_accounts_hold(
    log: &EventLog,
    tasks: &[TrainingTask],
    outcome: &Outcome,
    held: &[BTreeMap<u32, u32>],
) {
    let mut before = (log.times()[0], log.changes(0).len() as f64);
    // For each task: used node-seconds, node-seconds below the minimum, and rate × time.
    let mut by_task = vec![[0.0; 3]; tasks.len()];
    for (row, held) in outcome.steps.iter().zip(held) {
        let seconds = row.time.seconds_since(before.0);
        let mut step = [0.0; 3];
        for (&index, &count) in held {
            let (task, nodes) = (&tasks[index as usize], seconds * f64::from(count));
            let below = if count < task.min_nodes { nodes } else { 0.0 };
            let found = [nodes, below, seconds * rate(task, count)];
            for (at, found) in found.into_iter().enumerate() {
                step[at] += found;
                by_task[index as usize][at] += found;
            }
        }
        let used = [
            row.before_completion_node_seconds,
            row.after_completion_node_seconds,
            row.below_minimum_node_seconds,
        ];
        assert_sum(row.idle_node_seconds, &[before.1 * seconds]);
        assert_sum(row.idle_node_seconds, &[row.unused_node_seconds, step[0]]);
        assert_sum(row.used_node_seconds, &used);
        assert_sum(row.used_node_seconds, &step[..1]);
        assert_sum(row.below_minimum_node_seconds, &step[1..2]);
        assert_sum(row.gross_work, &step[2..]);
        let parts = [
            row.progress,
            row.rescale_loss,
            row.preemption_cost,
            row.after_completion_work,
        ];
        assert_sum(row.gross_work, &parts);
        before = (row.time, row.nodes_idle.into());
    }
    for ((row, task), found) in outcome.tasks.iter().zip(tasks).zip(by_task) {
        let used = [
            row.before_completion_node_seconds,
            row.after_completion_node_seconds,
            row.below_minimum_node_seconds,
        ];
        assert_sum(row.node_seconds, &used);
        assert_sum(row.node_seconds, &found[..1]);
        assert_sum(row.below_minimum_node_seconds, &found[1..2]);
        assert_sum(row.gross_work, &found[2..]);
        let parts = [
            row.work_done,
            row.rescale_loss,
            row.preemption_loss,
            row.after_completion_work,
        ];
        assert_sum(row.gross_work, &parts);
        let after = row.after_completion_work;
        if outcome.summary.completion_events {
            // Times are rounded to nanoseconds, and work to one part in 1e9.
            let fastest = (0..=task.max_nodes.min(log.nodes().len() as u32))
                .map(|count| rate(task, count))
                .fold(0.0, f64::max);
            let most = 2e-9 * (fastest + if row.end.is_some() { row.work } else { 0.0 });
            assert!(after.abs() <= most, "{row:?}");
        } else {
            assert!(
                after >= 0.0 && (after == 0.0 || row.end.is_some()),
                "{row:?}"
            );
        }
    }
    the_whole_run_holds(outcome);
}

/// Asserts that the accounts of the whole run balance, and that they equal the sums over steps and over
/// tasks.
fn the_whole_run_holds(outcome: &Outcome) {
    let s = &outcome.summary;
    let used = [
        s.before_completion_node_seconds,
        s.after_completion_node_seconds,
        s.below_minimum_node_seconds,
    ];
    assert_sum(
        s.idle_node_seconds,
        &[s.unused_node_seconds, s.used_node_seconds],
    );
    assert_sum(s.used_node_seconds, &used);
    let parts = [
        s.total_work,
        s.rescale_loss,
        s.preemption_loss,
        s.after_completion_work,
    ];
    assert_sum(s.gross_work, &parts);
    let steps = |of: fn(&StepRow) -> f64| outcome.steps.iter().map(of).collect::<Vec<_>>();
    let tasks = |of: fn(&TaskRow) -> f64| outcome.tasks.iter().map(of).collect::<Vec<_>>();
    assert_sum(s.idle_node_seconds, &steps(|r| r.idle_node_seconds));
    assert_sum(s.unused_node_seconds, &steps(|r| r.unused_node_seconds));
    assert_sum(s.used_node_seconds, &steps(|r| r.used_node_seconds));
    assert_sum(s.gross_work, &steps(|r| r.gross_work));
    assert_sum(s.rescale_loss, &steps(|r| r.rescale_loss));
    assert_sum(s.preemption_loss, &steps(|r| r.preemption_cost));
    assert_sum(
        s.below_minimum_node_seconds,
        &tasks(|r| r.below_minimum_node_seconds),
    );
    assert_sum(s.preemption_loss, &tasks(|r| r.preemption_loss));
    assert_eq!(
        s.used_share,
        (s.idle_node_seconds > 0.0).then(|| s.used_node_seconds / s.idle_node_seconds)
    );
    assert_eq!(
        s.useful_share,
        (s.gross_work > 0.0).then(|| s.total_work / s.gross_work)
    );
}

/// Asserts that the parts sum to the whole, within a relative error of 1e-9.
#[track_caller]
fn assert_sum(whole: f64, parts: &[f64]) {
    let sum: f64 = parts.iter().sum();
    let size = parts.iter().map(|part| part.abs()).fold(0.0, f64::max);
    let tolerance = 1e-9 * size.max(whole.abs());
    assert!(
        (whole - sum).abs() <= tolerance,
        "{whole} is not the sum of {parts:?}"
    );
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
