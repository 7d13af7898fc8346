//! Derives idle fragments from the changes of a log, one change at a time.

use gleaner_domain::{Change, EventLog, Utc};

/// The time at which each node became idle; `None` for a busy node.
#[derive(Debug)]
pub(super) struct IdleSince {
    since: Vec<Option<Utc>>,
}

impl IdleSince {
    /// Starts with `nodes` nodes, all of them busy.
    pub fn new(nodes: usize) -> Self {
        IdleSince {
            since: vec![None; nodes],
        }
    }

    /// Records a change of a node at `time`. If the change ends a fragment, returns the fragment's length in
    /// nanoseconds.
    pub fn change(&mut self, change: Change, time: Utc) -> Option<u64> {
        let since = &mut self.since[change.node() as usize];
        if change.idle() {
            *since = Some(time);
            None
        } else {
            since.take().map(|since| time.0.abs_diff(since.0))
        }
    }

    /// The lengths in nanoseconds of the fragments that have not ended, measured up to `end`.
    pub fn cut(&self, end: Utc) -> impl Iterator<Item = u64> {
        self.cut_by_node(end).map(|(_, length)| length)
    }

    /// Like [`IdleSince::cut`], but also returns the index of the node for each length.
    pub fn cut_by_node(&self, end: Utc) -> impl Iterator<Item = (u32, u64)> {
        let open = (0..).zip(&self.since);
        open.filter_map(move |(node, since)| Some((node, end.0.abs_diff((*since)?.0))))
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
