//! Turns changes into idle fragments, one change after the other.

use gleaner_domain::{Change, EventLog, Utc};

/// Time since which each node is idle; `None` for a busy node.
#[derive(Debug)]
pub(super) struct IdleSince {
    since: Vec<Option<Utc>>,
}

impl IdleSince {
    /// Creates `nodes` nodes, all busy.
    pub fn new(nodes: usize) -> Self {
        IdleSince {
            since: vec![None; nodes],
        }
    }

    /// Records a change of a node at `time`. Returns the length in nanoseconds of the fragment
    /// that it ends, if it ends one.
    pub fn change(&mut self, change: Change, time: Utc) -> Option<u64> {
        let since = &mut self.since[change.node() as usize];
        if change.idle() {
            *since = Some(time);
            None
        } else {
            since.take().map(|since| time.0.abs_diff(since.0))
        }
    }

    /// The lengths in nanoseconds, up to `end`, of the fragments that have not ended.
    pub fn cut(&self, end: Utc) -> impl Iterator<Item = u64> {
        let open = self.since.iter().flatten();
        open.map(move |since| end.0.abs_diff(since.0))
    }
}

/// The lengths in nanoseconds of all idle fragments of a log, in the order of their ends.
pub(super) fn lengths(log: &EventLog) -> Vec<u64> {
    let mut idle_since = IdleSince::new(log.nodes().len());
    let mut lengths = Vec::with_capacity(log.change_count() / 2 + 1);
    for (time, changes) in log.rows() {
        let ended = changes.iter().filter_map(|c| idle_since.change(*c, time));
        lengths.extend(ended);
    }
    let end = log.times().last().copied().unwrap_or(Utc(0));
    lengths.extend(idle_since.cut(end));
    lengths
}
