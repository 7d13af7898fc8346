//! Converts the nodes that a policy leaves fully idle to an event log for replays.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use gleaner_domain::results::policy_run::{PolicyRun, VcRun};
use gleaner_domain::{Change, Cluster, EventLog, EventLogBuilder, Local, Trace, Utc};

/// A change of a node's state to idle or busy. Several changes of a node within a second can cancel each other out.
struct Flip {
    time: i64,
    node: u32,
    idle: bool,
}

/// A second that is too late for an event log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("second {second} is beyond the times of event logs, which end in the year 2262")]
pub struct TooLate {
    /// The second, on the trace's clock.
    pub second: i64,
}

/// Builds the log of the nodes that are fully idle in a run. The run started at second `start`.
///
/// Nodes are named `<vc>/<name>`. They are ordered by virtual cluster, in the order of `run.vcs`, and then by number.
/// The first row is at second `start`. The last row is at the last submission or, if `with_drain` is set, at the end of
/// the last job in any virtual cluster. Between these two rows, there is a row for every second with changes. Nodes
/// that have not been added yet or have been removed count as busy. The profiler's nodes are left out. Times are
/// relative to the trace's origin, or to 1970 if the trace has no origin.
///
/// # Errors
/// Returns an error if a time of the log is later than the latest [`Utc`].
pub fn idle_log(
    trace: &Trace,
    cluster: &Cluster,
    run: &PolicyRun,
    start: i64,
    with_drain: bool,
) -> Result<EventLog, TooLate> {
    let (names, mut flips) = gather(cluster, run);
    // The sort must be stable: if a node flips several times in a second, the last flip counts.
    flips.sort_by_key(|flip| flip.time);
    let ends = run.vcs.iter().flat_map(|vc| &vc.schedule.jobs);
    let end = if with_drain {
        ends.map(|job| job.end).max()
    } else {
        trace.submissions().map(|(_, last)| last)
    };
    let end = end.unwrap_or(start).max(start);
    let mut idle = vec![false; names.len()];
    let mut log = EventLogBuilder::new(names);
    let clock = |second| on_the_clock(trace.origin, second).ok_or(TooLate { second });
    let first = flips.partition_point(|flip| flip.time <= start);
    log.push_row(clock(start)?, net_changes(&flips[..first], &mut idle));
    let mut last = start;
    for second in flips[first..].chunk_by(|a, b| a.time == b.time) {
        let changes = net_changes(second, &mut idle);
        if !changes.is_empty() && second[0].time <= end {
            last = second[0].time;
            log.push_row(clock(last)?, changes);
        }
    }
    if last < end {
        log.push_row(clock(end)?, []);
    }
    Ok(log.finish_trusted())
}

/// The names of all nodes that ever existed, and the flips of these nodes.
fn gather(cluster: &Cluster, run: &PolicyRun) -> (Vec<String>, Vec<Flip>) {
    let (mut names, mut flips) = (Vec::new(), Vec::new());
    for vc in &run.vcs {
        let first = names.len() as u32;
        let numbers = node_names(vc);
        let indices: BTreeMap<u32, u32> = numbers.iter().copied().zip(first..).collect();
        let name = &cluster.vcs[vc.vc].name;
        names.extend(numbers.iter().map(|number| format!("{name}/{number}")));
        flips.extend(vc.schedule.idleness.iter().map(|change| Flip {
            time: change.time,
            node: indices[&change.node],
            idle: change.idle,
        }));
    }
    (names, flips)
}

fn node_names(vc: &VcRun) -> BTreeSet<u32> {
    let lives = vc.schedule.nodes.iter().map(|life| life.name);
    let changed = vc.schedule.idleness.iter().map(|change| change.node);
    lives.chain(changed).collect()
}

/// The net changes of several flips, in ascending order of node. Updates `idle`, the state of each node.
fn net_changes(flips: &[Flip], idle: &mut [bool]) -> Vec<Change> {
    let last: BTreeMap<u32, bool> = flips.iter().map(|flip| (flip.node, flip.idle)).collect();
    let changed = last
        .into_iter()
        .filter(|&(node, now)| std::mem::replace(&mut idle[node as usize], now) != now);
    changed.map(|(node, now)| Change::new(node, now)).collect()
}

/// The civil time of a second; `None` if it is later than the latest [`Utc`].
fn on_the_clock(origin: Option<Local>, second: i64) -> Option<Utc> {
    let origin = origin.map_or(0, |origin| origin.0);
    let nanos = second.checked_mul(Utc::from_seconds(1).0)?;
    origin.checked_add(nanos).map(Utc)
}
