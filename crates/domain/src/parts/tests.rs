//! Compares the states of nodes in the parts of a log with their states in the whole log.

use proptest::prelude::*;

use crate::{Change, EventLog, EventLogBuilder, Pending, RowQueue, Utc};

/// Builds a log. An entry of `rows` holds the seconds since the previous row and, for each node, whether it changes.
fn log(nodes: usize, rows: &[(i64, Vec<bool>)]) -> EventLog {
    let mut builder = EventLogBuilder::new((0..nodes).map(|node| format!("n{node}")).collect());
    let (mut idle, mut time) = (vec![false; nodes], 1_000);
    for (gap, flips) in rows {
        time += gap;
        let mut changes = Vec::new();
        for node in 0..nodes {
            if flips[node] {
                idle[node] = !idle[node];
                changes.push(Change::new(node as u32, idle[node]));
            }
        }
        builder.push_row(Utc::from_seconds(time), changes);
    }
    builder.finish().unwrap()
}

/// Whether each node is idle after all changes up to and including this time.
fn states(log: &EventLog, time: Utc) -> Vec<bool> {
    let mut idle = vec![false; log.nodes().len()];
    for (at, changes) in log.rows() {
        if at <= time {
            for change in changes {
                idle[change.node() as usize] = change.idle();
            }
        }
    }
    idle
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    // Derived by formula: at the time of each event, the part that contains this time has the same node states as the
    // log.
    #[test]
    fn parts_have_the_states_of_the_log(
        rows in prop::collection::vec((0i64..50, prop::collection::vec(any::<bool>(), 4)), 2..40),
        count in 1usize..9,
    ) {
        let log = log(4, &rows);
        let bounds = log.equal_parts(count);
        let parts = log.cut_at(&bounds);
        prop_assert_eq!(parts.len(), count);
        prop_assert_eq!((bounds[0], bounds[count]), (log.times()[0], *log.times().last().unwrap()));
        for (part, ends) in parts.iter().zip(bounds.windows(2)) {
            let (start, end) = (ends[0], ends[1]);
            prop_assert_eq!((part.times()[0], *part.times().last().unwrap()), (start, end));
            let inside = log.times().iter().copied().filter(|time| (start..=end).contains(time));
            for time in inside.chain([start, end]) {
                prop_assert_eq!(states(part, time), states(&log, time), "{:?}", time);
            }
        }
        let sum: f64 = parts.iter().map(EventLog::idle_node_seconds).sum();
        prop_assert!((sum - log.idle_node_seconds()).abs() <= 1e-6, "{} {}", sum, log.idle_node_seconds());
        // A node that leaves at a boundary is counted only in the earlier part: the first row of a part only makes
        // nodes idle.
        let left = |log: &EventLog| log.rows().flat_map(|(_, changes)| changes).filter(|change| !change.idle()).count();
        let lengths = bounds.windows(2).all(|ends| ends[0] < ends[1]);
        if lengths {
            prop_assert_eq!(parts.iter().map(left).sum::<usize>(), left(&log));
        }
    }
}

// Small fixed example: the last two seconds do not fill a block of four seconds.
#[test]
fn an_incomplete_block_is_left_out() {
    let log = log(1, &[(0, vec![true]), (10, vec![true])]);
    let at = Utc::from_seconds;
    assert_eq!(log.whole_blocks(4), [at(1_000), at(1_004), at(1_008)]);
    assert_eq!(log.whole_blocks(5), [at(1_000), at(1_005), at(1_010)]);
    assert_eq!(log.whole_blocks(11), []);
    assert_eq!(log.whole_blocks(0), []);
    assert_eq!(log.equal_parts(0), []);
    // 10 s are not divisible by 3, and boundaries are rounded down to nanoseconds.
    assert_eq!(log.equal_parts(3)[1], Utc(1_003_333_333_333));
}

#[test]
fn a_log_in_one_part_is_unchanged() {
    let log = log(
        2,
        &[
            (0, vec![true, false]),
            (3, vec![true, true]),
            (4, vec![false, true]),
        ],
    );
    assert_eq!(log.cut_at(&log.equal_parts(1)), [log]);
}

// Small fixed example: two jobs wait from the start to 8 s, when one of them takes the node.
#[test]
fn the_jobs_that_wait_at_a_boundary_still_wait_after_it() {
    let mut builder = EventLogBuilder::new(vec!["n".to_owned()]);
    let pending = |jobs| Some(Pending { jobs, nodes: jobs });
    let rows = [
        (0, true, 2, &[][..], &[0][..]),
        (8, false, 1, &[1], &[1]),
        (10, true, 0, &[], &[0]),
    ];
    for (time, idle, jobs, job_nodes, takers) in rows {
        builder.push_row(Utc::from_seconds(time), [Change::new(0, idle)]);
        builder.push_queue(RowQueue {
            pending: pending(jobs),
            jobs: job_nodes,
            takers,
        });
    }
    let log = builder.finish().unwrap();
    let parts = log.cut_at(&log.equal_parts(2));
    let waiting = |log: &EventLog, row| log.queue(row).unwrap().pending.unwrap().jobs;
    assert_eq!(
        (
            waiting(&parts[0], 1),
            waiting(&parts[1], 0),
            waiting(&parts[1], 1)
        ),
        (2, 2, 1)
    );
    assert_eq!(parts[1].queue(1).unwrap().takers, [1]);
}
