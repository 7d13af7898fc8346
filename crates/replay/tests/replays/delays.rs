//! Tests of the delays of batch jobs that take nodes from tasks.

use gleaner_domain::{Change, EventLog, EventLogBuilder, Pending, RowQueue, Utc};
use gleaner_replay::{Initial, Options};
use gleaner_solvers::SolverKind;
use proptest::prelude::*;

use crate::audit::{inputs, it_follows};
use crate::efficiency::task;
use crate::support::{options, replay, solver};

/// A log whose rows are 10 s apart. All nodes become idle at row 0, and the nodes in `flips[r]` change state at row r.
/// When node n leaves, job n % 2 + 1 takes it if the job's number is at most `jobs`; otherwise, no job
/// takes it. Each job has one node in addition to the nodes that it takes.
fn log(nodes: u32, flips: &[Vec<u32>], jobs: u32, has_queue: bool) -> EventLog {
    let mut log = EventLogBuilder::new((0..nodes).map(|node| format!("n{node}")).collect());
    let mut idle = vec![false; nodes as usize];
    for (row, flips) in (0..).zip(flips) {
        let mut changes = Vec::new();
        let mut takers = Vec::new();
        for node in 0..nodes {
            if row > 0 && !flips.contains(&node) {
                continue;
            }
            let state = &mut idle[node as usize];
            *state = !*state;
            changes.push(Change::new(node, *state));
            let job = node % 2 + 1;
            takers.push(if *state || job > jobs { 0 } else { job });
        }
        log.push_row(Utc::from_seconds(10 * row), changes);
        if has_queue {
            let taken = |job| takers.iter().filter(|taker| **taker == job).count() as u32;
            log.push_queue(RowQueue {
                pending: Some(Pending::default()),
                jobs: &[1 + taken(1), 1 + taken(2)][..jobs as usize],
                takers: &takers,
            });
        }
    }
    log.finish().unwrap()
}

fn delays(log: &EventLog, hand_back: f64) -> Vec<(usize, u32, u32, u32, f64)> {
    let tasks = [task("a", 0, f64::INFINITY, &[1.0, 2.0, 3.0])];
    let options = Options {
        initial: Initial::Solve,
        hand_back: Some(hand_back),
        ..options(60.0, 2)
    };
    let outcome = replay(log, &tasks, &options, &mut solver(SolverKind::Exact)).unwrap();
    it_follows(&inputs(log, &tasks, &[]), &outcome);
    let rows = outcome.delays.unwrap();
    assert_eq!(outcome.summary.delayed_jobs, Some(rows.len()));
    let are_events = outcome.summary.delayed_jobs_are_events;
    assert_eq!(are_events, Some(!log.has_queue()));
    let warns = |remark: &String| remark.contains("counts as one delayed batch job");
    assert_eq!(
        outcome.summary.remarks().iter().any(warns),
        !log.has_queue()
    );
    let row = |row: &gleaner_domain::results::replay::DelayRow| {
        (
            row.event,
            row.job,
            row.nodes,
            row.nodes_in_use,
            row.delayed_node_seconds,
        )
    };
    rows.iter().map(row).collect()
}

// Derived by hand: the task gets the three nodes at 0 s. At 10 s, job 1 takes node 0, and job 2 takes node 1. Each job
// has a second node, which was not idle. At 20 s, node 0 joins, and node 2 leaves for job 1.
#[test]
fn a_job_is_delayed_once_with_all_of_its_nodes() {
    let flips = [vec![], vec![0, 1], vec![0, 2], vec![]];
    let found = delays(&log(3, &flips, 2, true), 5.0);
    let expected = [(1, 1, 2, 1, 10.0), (1, 2, 2, 1, 10.0), (2, 1, 2, 1, 10.0)];
    assert_eq!(found, expected);
    // Without job 2, no job waits for node 1.
    let found = delays(&log(3, &flips, 1, true), 5.0);
    assert_eq!(found, [expected[0], expected[2]]);
    // If the log does not list jobs, each event counts as one job.
    let found = delays(&log(3, &flips, 2, false), 5.0);
    assert_eq!(found, [(1, 0, 2, 2, 10.0), (2, 0, 1, 1, 5.0)]);
}

proptest! {
    #![proptest_config(gleaner_testing::cases(64))]

    // The check derives the delayed jobs independently, from the allocations.
    #[test]
    fn delays_follow_from_the_allocations(
        flips in prop::collection::vec(prop::collection::vec(0u32..6, 0..5), 2..20),
        jobs in 0u32..3,
        has_queue: bool,
    ) {
        delays(&log(6, &flips, jobs, has_queue), 30.0);
    }
}
