//! Tests of the event log that records which nodes a policy leaves idle.

use gleaner_domain::results::policy_run::PolicyRun;
use gleaner_domain::results::schedule::{Idleness, JobRun, NodeLife};
use gleaner_domain::{EventLog, Local, Trace, Utc};
use gleaner_inputs::write::events::{Layout, write};
use gleaner_simulate::idle::idle_log;
use proptest::prelude::*;

use super::support::{cluster, outcome, vc_run};

/// A log as rows, each with a second and the changes at that second, such as `+a/0 -b/1`.
fn rows(log: &EventLog) -> Vec<(i64, String)> {
    let change = |c: &gleaner_domain::Change| {
        let sign = if c.idle() { '+' } else { '-' };
        format!("{sign}{}", log.nodes()[c.node() as usize])
    };
    let text = |changes: &[_]| changes.iter().map(change).collect::<Vec<_>>().join(" ");
    log.rows()
        .map(|(time, changes)| (time.0 / 1_000_000_000, text(changes)))
        .collect()
}

fn change(time: i64, node: u32, idle: bool) -> Idleness {
    Idleness { time, node, idle }
}

fn there(name: u32) -> NodeLife {
    NodeLife {
        name,
        from: i64::MIN,
        until: i64::MAX,
    }
}

/// A run on two virtual clusters. In the second virtual cluster, a node is added late and removed early.
fn elastic() -> PolicyRun {
    let mut a = vc_run(0, &[0], vec![outcome(100, 130, 0)]);
    a.schedule.nodes = vec![there(0), there(1)];
    a.schedule.idleness = vec![
        change(100, 0, true),
        change(100, 1, true),
        change(100, 1, false),
        change(130, 1, true),
    ];
    let mut b = vc_run(1, &[1], vec![outcome(110, 150, 0)]);
    b.schedule.nodes = vec![there(10), there(2)];
    b.schedule.idleness = vec![
        change(100, 2, true),
        change(105, 2, false),
        change(105, 2, true),
        change(110, 2, false),
        change(120, 9999, true),
        change(130, 9999, false),
    ];
    PolicyRun {
        policy: "fifo",
        vcs: vec![a, b],
        profiler: None,
    }
}

#[test]
fn rows_are_net_changes_from_the_start_to_the_last_end() {
    let cluster = cluster(&[("a", 2), ("b", 2)]);
    let log = idle_log(&Trace::default(), &cluster, &elastic(), 100, true).unwrap();
    assert_eq!(log.nodes(), ["a/0", "a/1", "b/2", "b/10", "b/9999"]);
    let expected = [
        (100, "+a/0 +b/2"),
        (110, "-b/2"),
        (120, "+b/9999"),
        (130, "+a/1 -b/9999"),
        (150, ""),
    ];
    assert_eq!(
        rows(&log),
        expected.map(|(time, text)| (time, text.to_owned()))
    );
}

#[test]
fn times_count_from_the_traces_origin() {
    let trace = Trace {
        origin: Some("2020-04-01".parse().unwrap()),
        ..Trace::default()
    };
    let cluster = cluster(&[("a", 2), ("b", 2)]);
    let log = idle_log(&trace, &cluster, &elastic(), 100, true).unwrap();
    let expected: Local = "2020-04-01 00:01:40".parse().unwrap();
    assert_eq!(log.times()[0], expected.from_offset(0));
}

/// The last second that an event log can hold is 9223372036 s after 1970.
#[test]
fn times_beyond_event_logs_are_an_error() {
    let mut run = elastic();
    run.vcs[1].schedule.jobs[0].end = 9_223_372_037;
    let cluster = cluster(&[("a", 2), ("b", 2)]);
    let error = idle_log(&Trace::default(), &cluster, &run, 100, true).unwrap_err();
    assert_eq!(error.second, 9_223_372_037);
    run.vcs[1].schedule.jobs[0].end -= 1;
    let log = idle_log(&Trace::default(), &cluster, &run, 100, true).unwrap();
    let last = log.times().last().unwrap();
    assert_eq!(last.at_offset(0).to_string(), "2262-04-11 23:47:16");
    let later = Trace {
        origin: Some(Local::from_seconds(1)),
        ..Trace::default()
    };
    assert!(idle_log(&later, &cluster, &run, 100, true).is_err());
}

#[test]
fn a_run_without_jobs_has_one_row() {
    let mut run = elastic();
    for vc in &mut run.vcs {
        vc.jobs.clear();
        vc.schedule.jobs.clear();
        vc.schedule.idleness.retain(|change| change.time == 100);
    }
    let cluster = cluster(&[("a", 2), ("b", 2)]);
    let log = idle_log(&Trace::default(), &cluster, &run, 100, true).unwrap();
    assert_eq!(rows(&log), [(100, "+a/0 +b/2".to_owned())]);
}

#[test]
fn the_log_is_read_back_from_every_format() {
    let cluster = cluster(&[("a", 2), ("b", 2)]);
    let log = idle_log(&Trace::default(), &cluster, &elastic(), 100, true).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for name in ["idle.csv", "idle.parquet", "idle.gev"] {
        let path = folder.path().join(name);
        write(&log, &path, Layout::Long, None).unwrap();
        assert_eq!(
            gleaner_inputs::events::read(&path).unwrap().value,
            log,
            "{name}"
        );
    }
}

const START: i64 = 50;

/// Runs of jobs on nodes with eight GPUs each. Each job starts on the first node with enough free GPUs, as soon as
/// there is such a node. Jobs are given as (gap, GPUs, duration).
fn schedule(nodes: usize, jobs: &[(i64, u32, i64)]) -> Vec<JobRun> {
    let mut free_from = vec![[START; 8]; nodes];
    let mut now = START;
    let mut runs = Vec::new();
    for (job, &(gap, gpus, duration)) in jobs.iter().enumerate() {
        now += gap;
        let (node, held) = loop {
            let free = |node: &[i64; 8]| {
                (0..8)
                    .filter(|&g| node[g] <= now)
                    .take(gpus as usize)
                    .collect::<Vec<_>>()
            };
            let fits = free_from
                .iter()
                .map(free)
                .enumerate()
                .find(|(_, gpus_free)| gpus_free.len() == gpus as usize);
            match fits {
                Some(found) => break found,
                None => now += 1,
            }
        };
        let mask = held.iter().fold(0, |set, gpu| set | 1u64 << gpu);
        held.iter()
            .for_each(|&gpu| free_from[node][gpu] = now + duration);
        runs.push(JobRun {
            job,
            from: now,
            until: now + duration,
            placement: vec![(node as u32, mask)],
            speeds: vec![(now, 1.0)],
            last: true,
        });
    }
    runs
}

/// The changes that a simulator records, in chronological order. Within a second, ends come before starts.
fn idleness(nodes: usize, runs: &[JobRun]) -> Vec<Idleness> {
    let mut events: Vec<_> = (0..nodes as u32)
        .map(|node| change(START, node, true))
        .collect();
    let mut held = vec![0; nodes];
    let end = runs.iter().map(|run| run.until).max().unwrap();
    for second in START..=end {
        for run in runs.iter().filter(|run| run.until == second) {
            let node = run.placement[0].0;
            held[node as usize] -= 1;
            if held[node as usize] == 0 {
                events.push(change(second, node, true));
            }
        }
        for run in runs.iter().filter(|run| run.from == second) {
            let node = run.placement[0].0;
            if held[node as usize] == 0 {
                events.push(change(second, node, false));
            }
            held[node as usize] += 1;
        }
    }
    events
}

/// Whether no run holds a GPU of the node from `second` to `second + 1`.
fn is_idle(runs: &[JobRun], node: u32, second: i64) -> bool {
    let holds =
        |run: &JobRun| run.placement[0].0 == node && run.from <= second && second < run.until;
    !runs.iter().any(holds)
}

fn any_vc() -> impl Strategy<Value = (usize, Vec<(i64, u32, i64)>)> {
    let job = (0i64..4, 1u32..=8, 1i64..12);
    (1usize..4, prop::collection::vec(job, 1..15))
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    // At every second, the log and the runs agree about every node. The log has no redundant rows.
    #[test]
    fn the_log_agrees_with_the_runs_at_every_second(vcs in prop::collection::vec(any_vc(), 1..4)) {
        let all_runs: Vec<_> = vcs.iter().map(|(nodes, jobs)| schedule(*nodes, jobs)).collect();
        let mut run = PolicyRun { policy: "fifo", vcs: vec![], profiler: None };
        for (vc, ((nodes, _), runs)) in vcs.iter().zip(&all_runs).enumerate() {
            let outcomes = runs.iter().map(|run| outcome(run.from, run.until, 0)).collect();
            let mut vc = vc_run(vc, &[], outcomes);
            vc.schedule.nodes = (0..*nodes as u32).map(there).collect();
            vc.schedule.idleness = idleness(*nodes, runs);
            run.vcs.push(vc);
        }
        let cluster = cluster(&[("a", 3), ("b", 3), ("c", 3)]);
        let log = idle_log(&Trace::default(), &cluster, &run, START, true).unwrap();

        let end = all_runs.iter().flatten().map(|run| run.until).max().unwrap();
        prop_assert_eq!(log.times()[0], Utc::from_seconds(START));
        prop_assert_eq!(*log.times().last().unwrap(), Utc::from_seconds(end));
        let mut told = vec![false; log.nodes().len()];
        let mut row = 0;
        for second in START..=end {
            if log.times().get(row) == Some(&Utc::from_seconds(second)) {
                let ends_matter = row == 0 || second == end;
                prop_assert!(ends_matter || !log.changes(row).is_empty());
                for change in log.changes(row) {
                    prop_assert_ne!(told[change.node() as usize], change.idle());
                    told[change.node() as usize] = change.idle();
                }
                row += 1;
            }
            let mut at = 0;
            for ((nodes, _), runs) in vcs.iter().zip(&all_runs) {
                for node in 0..*nodes {
                    prop_assert_eq!(told[at], is_idle(runs, node as u32, second));
                    at += 1;
                }
            }
        }
        prop_assert_eq!(row, log.len());
    }
}
