//! Tests the log of the nodes that a policy leaves idle: the log agrees with the schedule's runs, and the replay
//! harvests the idle nodes.

use std::collections::BTreeMap;

use gleaner_domain::Unobserved;
use gleaner_domain::results::policy_run::PolicyRun;
use gleaner_domain::results::replay::Outcome;
use gleaner_domain::results::schedule::Schedule;
use gleaner_domain::{EventLog, TrainingTask, Utc};
use gleaner_inputs::events;
use gleaner_inputs::write::events::{Layout, write};
use gleaner_replay::{Options, SolverDecider};
use gleaner_simulate::idle::idle_log;
use gleaner_simulate::policies;
use gleaner_solvers::{Limits, SolverKind, SolverSpec};
use gleaner_synth::tasks::{TaskOptions, generate};
use proptest::prelude::*;

use crate::town::{self, town};
use crate::venus::venus;

/// The number of idle nodes after each second in which it changes.
type Counts = BTreeMap<i64, i64>;

/// Adds up the changes in each second. Seconds without a net change are left out.
fn counts(changes: impl IntoIterator<Item = (i64, i64)>) -> Counts {
    let mut by_second = Counts::new();
    for (second, change) in changes {
        *by_second.entry(second).or_default() += change;
    }
    by_second.retain(|_, change| *change != 0);
    let mut now = 0;
    for change in by_second.values_mut() {
        now += *change;
        *change = now;
    }
    by_second
}

/// Computes the numbers of idle nodes from a log that starts at second `start`.
fn by_log(log: &EventLog, start: i64) -> Counts {
    let first = log.times()[0];
    let changes = log.rows().map(|(time, changes)| {
        let sign = |idle| if idle { 1 } else { -1 };
        let net: i64 = changes.iter().map(|change| sign(change.idle())).sum();
        (start + (time.0 - first.0) / Utc::from_seconds(1).0, net)
    });
    counts(changes)
}

/// Computes the numbers of idle nodes only from the runs of all virtual clusters and the lifetimes of
/// their nodes, up to second `end`.
fn by_runs(run: &PolicyRun, start: i64, end: i64) -> Counts {
    let idle = run
        .vcs
        .iter()
        .flat_map(|vc| idle_spans(&vc.schedule, start));
    let changes = idle.flat_map(|(from, until)| [(from, 1), (until, -1)]);
    counts(changes.filter(|&(second, _)| second <= end))
}

fn last_end(run: &PolicyRun, start: i64) -> i64 {
    let jobs = run.vcs.iter().flat_map(|vc| &vc.schedule.jobs);
    jobs.map(|job| job.end).max().unwrap_or(start).max(start)
}

/// The periods during which a node runs no job, for all nodes.
fn idle_spans(schedule: &Schedule, start: i64) -> Vec<(i64, i64)> {
    let mut busy = vec![Vec::new(); schedule.nodes.len()];
    for run in &schedule.runs {
        for &(slot, _) in &run.placement {
            busy[slot as usize].push((run.from, run.until));
        }
    }
    let mut idle = Vec::new();
    for (node, mut busy) in schedule.nodes.iter().zip(busy) {
        busy.sort_unstable();
        let mut free = node.from.max(start);
        for (from, until) in busy {
            idle.push((free, from.max(free)));
            free = free.max(until);
        }
        idle.push((free, node.until));
    }
    idle
}

fn node_seconds(counts: &Counts, end: i64) -> i64 {
    let until = counts.keys().skip(1).copied().chain([end]);
    let spans = counts.iter().zip(until);
    spans
        .map(|((from, idle), until)| idle * (until.min(end) - from))
        .sum()
}

/// Replays the log with at most 12 tasks at a time and a forward window of 600 seconds.
fn replayed(log: &EventLog) -> Outcome {
    let options = Options::original(600.0, 12);
    let mut exact =
        SolverDecider::new(SolverSpec::new(SolverKind::Exact), Limits::default()).unwrap();
    gleaner_replay::run(log, &tasks(log), &options, &mut exact, &Unobserved).unwrap()
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    #[test]
    fn nodes_without_a_run_are_idle(town in town(), profiled: bool, with_drain: bool) {
        let requests: Vec<_> = policies::ALL.iter().map(|p| town.request(p)).collect();
        let start = town.case.start;
        for run in town::run(&town.simulation(profiled), &requests).unwrap() {
            let log = idle_log(&town.trace, &town.cluster, &run, start, with_drain).unwrap();
            let last_submission = town.trace.jobs.iter().map(|job| job.submit).max().unwrap();
            let end = if with_drain { last_end(&run, start) } else { last_submission.max(start) };
            prop_assert_eq!(by_log(&log, start), by_runs(&run, start, end), "{}", run.policy);
            let span = log.times()[log.len() - 1].0 - log.times()[0].0;
            prop_assert_eq!(span, (end - start) * Utc::from_seconds(1).0);
        }
    }
}

/// A few tasks that are submitted in the first hours and outlast any log.
fn tasks(log: &EventLog) -> Vec<TrainingTask> {
    let options = TaskOptions {
        count: 12,
        models: 4,
        max_nodes: 32,
        hours: 1e6,
        start: Some(log.times()[0]),
        submit_every: 3600.0,
        seed: 1,
    };
    generate(&options).unwrap()
}

/// A policy's idle nodes are written, read and replayed. No idle time is lost, and the replay harvests
/// only time that was idle.
#[test]
fn the_replay_harvests_the_nodes_that_policies_leave_idle() {
    let Some(venus) = venus() else { return };
    let folder = tempfile::tempdir().unwrap();
    for policy in ["fifo", "lucid"] {
        let run = venus.run(policy);
        let log = idle_log(&venus.trace, &venus.cluster, run, venus.start, true).unwrap();
        for name in ["idle.csv", "idle.gev"] {
            let path = folder.path().join(name);
            write(&log, &path, Layout::Long, None).unwrap();
            assert!(
                events::read(&path).unwrap().value == log,
                "{policy}, {name}"
            );
        }
        let log = events::read(&folder.path().join("idle.gev")).unwrap().value;
        let end = last_end(run, venus.start);
        let idle = node_seconds(&by_runs(run, venus.start, end), end) as f64;
        let outcome = replayed(&log);
        let summary = outcome.summary;
        println!(
            "{policy}: {:.3e} of {idle:.3e} idle node-seconds used",
            summary.used_node_seconds
        );
        assert_eq!(summary.idle_node_seconds, idle, "{policy}");
        assert!(summary.used_node_seconds <= idle, "{policy}");
        assert!(summary.used_node_seconds > 0.0, "{policy}");
        assert!(summary.total_work > 0.0, "{policy}");
    }
}
