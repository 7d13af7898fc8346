//! Event logs: the nodes that become idle or busy at each event.

use std::collections::BTreeSet;

use super::clock::{Occurrence, UnknownClock};
use super::queue::{Queue, RowQueue};
use super::{Clock, NodeClasses, Quality, Slice, Stamp, Utc};

/// A change of the state of one node, packed into four bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Change(u32);

/// Maximum number of nodes in a log. A [`Change`] has 32 bits: one for the state and 31 for the node's index.
pub const MAX_NODES: usize = (u32::MAX >> 1) as usize;

/// Maximum number of rows in a log. Without this limit, a file of a few megabytes could decompress to a log that fills
/// the memory. A log takes 16 bytes per row and 4 bytes per change.
pub const MAX_ROWS: usize = 1 << 26;
/// Maximum number of changes in a log, for the same reason as [`MAX_ROWS`].
pub const MAX_CHANGES: usize = 1 << 28;

impl Change {
    /// Creates the change by which `node` (an index below [`MAX_NODES`]) becomes idle or busy. A larger
    /// index is stored as [`MAX_NODES`], which is invalid in every log.
    pub fn new(node: u32, idle: bool) -> Self {
        Change(node.min(MAX_NODES as u32) << 1 | u32::from(idle))
    }

    /// Index of the node in the log.
    pub fn node(self) -> u32 {
        self.0 >> 1
    }

    /// Whether the node becomes idle; false if it becomes busy.
    pub fn idle(self) -> bool {
        self.0 & 1 == 1
    }
}

/// A log of node idleness. Its rows are in time order, and each row lists the changes of nodes at one time.
///
/// Before row 0, every node is busy, so row 0 lists exactly the nodes that are idle at the start. The changes of a row
/// are sorted by node, each node occurs at most once, and every change flips the state of its node. A row may be empty;
/// `--skip-rows` also counts such rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventLog {
    nodes: Vec<String>,
    times: Vec<Utc>,
    /// The changes of row i are `changes[starts[i]..starts[i + 1]]`.
    starts: Vec<usize>,
    changes: Vec<Change>,
    clock: Clock,
    quality: Option<Quality>,
    queue: Option<Queue>,
    classes: Option<NodeClasses>,
}

impl EventLog {
    /// Node names, in the log's order. A [`Change`] refers to a node by its index in this list.
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// Times of all rows, in ascending order; neighbouring times may be equal.
    pub fn times(&self) -> &[Utc] {
        &self.times
    }

    /// The clock, which converts the times to local time.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The quality of the log; `None` if nothing is known about the log's source. A slice has the quality of the whole
    /// log.
    pub fn quality(&self) -> Option<&Quality> {
        self.quality.as_ref()
    }

    /// Whether the log contains the batch queue: the number of waiting jobs, and the job that took each node.
    pub fn has_queue(&self) -> bool {
        self.queue.is_some()
    }

    /// The batch queue at `row`; `None` if the log has no queue.
    pub fn queue(&self, row: usize) -> Option<RowQueue<'_>> {
        let changes = self.starts[row]..self.starts[row + 1];
        self.queue.as_ref().map(|queue| queue.row(row, changes))
    }

    /// The classes of the nodes; `None` if the log does not divide its nodes into classes.
    pub fn classes(&self) -> Option<&NodeClasses> {
        self.classes.as_ref()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The changes at `row`, in ascending order of the nodes' indices.
    #[inline]
    pub fn changes(&self, row: usize) -> &[Change] {
        &self.changes[self.starts[row]..self.starts[row + 1]]
    }

    /// Total number of changes in all rows.
    pub fn change_count(&self) -> usize {
        self.changes.len()
    }

    /// Rows as (time, changes), in order.
    #[inline]
    pub fn rows(&self) -> impl ExactSizeIterator<Item = (Utc, &[Change])> {
        (0..self.len()).map(|row| (self.times[row], self.changes(row)))
    }

    /// Returns the part of the log that `slice` selects. Rows in which no selected node changes are dropped, unless the
    /// slice keeps all rows. The last row is kept as the end of the log, unless the slice drops it.
    ///
    /// The part is empty if the slice keeps no row. A slice that begins after the last node keeps no nodes. If a local
    /// time occurs twice, `from` means the first occurrence and `to` the second.
    ///
    /// # Errors
    /// A time of the slice has an offset from UTC, and the log's clock is unknown.
    pub fn slice(&self, slice: Slice) -> Result<EventLog, UnknownClock> {
        let place = |stamp: Option<Stamp>, occurrence| {
            let time = stamp.map(|stamp| self.clock.instant(stamp, occurrence));
            time.transpose()
        };
        let from = place(slice.from, Occurrence::First)?;
        let to = place(slice.to, Occurrence::Second)?;
        Ok(self.cut(slice, from, to))
    }

    /// The part that a slice selects; `from` and `to` are the times of the slice in UTC.
    pub(crate) fn cut(&self, slice: Slice, from: Option<Utc>, to: Option<Utc>) -> EventLog {
        let first = slice.first_node.min(self.nodes.len());
        let kept = slice.nodes.unwrap_or(usize::MAX);
        let last = first.saturating_add(kept).min(self.nodes.len());
        let before = |time: Utc| self.times.partition_point(|&t| t < time);
        let first_row = from.map_or(0, before).max(slice.skip_rows);
        let upto = |time: Utc| self.times.partition_point(|&t| t <= time);
        let rows = to.map_or(self.len(), upto);
        // Whether a row in which no selected node changes is kept.
        let is_quiet_kept = |row: usize| {
            if row + 1 == rows {
                !slice.drop_end_row
            } else {
                slice.all_rows
            }
        };
        let mut out = EventLogBuilder::new(self.nodes[first..last].to_vec());
        out.set_clock(self.clock.clone());
        out.set_quality(self.quality.clone());
        out.set_classes(
            self.classes
                .as_ref()
                .map(|classes| classes.cut(first..last)),
        );
        let mut takers = Vec::new();
        // Rows up to the first kept row only update `idle`. The first kept row becomes the first row of the slice and
        // lists all nodes that are then idle. Later rows keep the changes of kept nodes.
        let mut idle = vec![false; last - first];
        let mut row_changes = Vec::new();
        for (row, (time, changes)) in self.rows().enumerate().take(rows) {
            let is_kept = |c: &Change| (first..last).contains(&(c.node() as usize));
            let inside = changes.iter().filter(|c| is_kept(c));
            row_changes.clear();
            row_changes.extend(inside.map(|c| Change::new(c.node() - first as u32, c.idle())));
            if row <= first_row {
                row_changes
                    .iter()
                    .for_each(|c| idle[c.node() as usize] = c.idle());
            }
            if row == first_row {
                let start = (0..).zip(&idle).filter(|(_, idle)| **idle);
                out.push_row(time, start.map(|(node, _)| Change::new(node, true)));
                // The first row only makes nodes idle, so no job takes a node in it.
                takers.clear();
                takers.resize(out.last_changes(), 0);
            } else if row > first_row && (!row_changes.is_empty() || is_quiet_kept(row)) {
                out.push_row(time, row_changes.iter().copied());
                takers.clear();
                let all = self.queue(row).into_iter().flat_map(|queue| queue.takers);
                let kept = changes
                    .iter()
                    .zip(all)
                    .filter(|(change, _)| is_kept(change));
                takers.extend(kept.map(|(_, taker)| *taker));
            } else {
                continue;
            }
            if let Some(queue) = self.queue(row) {
                out.push_queue(RowQueue {
                    takers: &takers,
                    ..queue
                });
            }
        }
        out.finish_trusted()
    }

    /// The same log, with a clock that begins with the offset in force at the first row. In a part of a log, this
    /// offset may differ from the first offset of the whole log.
    pub fn with_clock_from_start(mut self) -> EventLog {
        if let Some(first) = self.times.first() {
            self.clock = self.clock.starting(*first);
        }
        self
    }

    /// The same log with this quality.
    pub fn with_quality(mut self, quality: Option<Quality>) -> EventLog {
        self.quality = quality;
        self
    }

    /// The same log with these classes. Every node must have a class.
    pub fn with_classes(mut self, classes: Option<NodeClasses>) -> EventLog {
        debug_assert!(
            classes
                .as_ref()
                .is_none_or(|classes| classes.of_nodes().len() == self.nodes.len())
        );
        self.classes = classes;
        self
    }

    /// The same log with the times that result tables show: the results of [`Clock::steady`], treated as UTC. The
    /// returned log's clock is unknown.
    pub fn as_in_tables(mut self) -> EventLog {
        for time in &mut self.times {
            *time = self.clock.steady(*time).from_offset(0);
        }
        self.clock = Clock::UNKNOWN;
        self
    }

    /// Idle node-seconds over the log's span.
    pub fn idle_node_seconds(&self) -> f64 {
        let mut idle = 0i64;
        let mut total = 0.0;
        for row in 1..self.len() {
            idle += self.net_joined(row - 1);
            total += idle as f64 * self.times[row].seconds_since(self.times[row - 1]);
        }
        total
    }

    /// Number of idle nodes after the row, minus the number before the row.
    pub(crate) fn net_joined(&self, row: usize) -> i64 {
        let joined = self.changes(row).iter().filter(|c| c.idle()).count() as i64;
        2 * joined - self.changes(row).len() as i64
    }
}

/// Builds an [`EventLog`] row by row.
#[derive(Debug, Clone)]
pub struct EventLogBuilder {
    log: EventLog,
}

/// The reason why rows do not form a valid [`EventLog`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLog {
    /// The log has no nodes or no rows.
    #[error("found {nodes} nodes and {rows} rows, expected at least one of each")]
    Empty {
        /// Number of nodes.
        nodes: usize,
        /// Number of rows.
        rows: usize,
    },
    /// A node has no name, or the same name as another node.
    #[error("node {node}: found the name {name:?}, expected a unique, non-empty name")]
    Name {
        /// Index of the node.
        node: usize,
        /// The name of the node.
        name: String,
    },
    /// The time of a row is earlier than the time of the previous row.
    #[error(
        "row {row}: found a time before the previous row's time, expected rows in ascending order of time"
    )]
    Order {
        /// Index of the row.
        row: usize,
    },
    /// A change refers to a node that is not in the log.
    #[error("row {row}: found a change of node {node}, expected an index below {nodes}")]
    Node {
        /// Index of the row.
        row: usize,
        /// Index of the node.
        node: u32,
        /// Number of nodes in the log.
        nodes: usize,
    },
    /// A change leaves a node in its current state, or the nodes of a row are not in ascending order.
    #[error(
        "row {row}: found a change of node {node} that is out of order or repeats its state, \
         expected each node once, in ascending order of index, with a new state"
    )]
    Change {
        /// Index of the row.
        row: usize,
        /// Index of the node.
        node: u32,
    },
    /// The batch queue does not describe the rows and changes of the log.
    #[error(
        "found a batch queue that does not match the log, expected a queue for every row, with every \
         job that takes a node"
    )]
    Queue,
    /// The number of nodes with a class differs from the number of nodes in the log.
    #[error("found classes for {found} nodes, expected a class for each of {nodes}")]
    Classes {
        /// Number of nodes with a class.
        found: usize,
        /// Number of nodes in the log.
        nodes: usize,
    },
    /// The log exceeds the maximum number of nodes, rows or changes.
    #[error(
        "found a log that is too large, expected at most {} nodes, {} rows and {} changes",
        MAX_NODES,
        MAX_ROWS,
        MAX_CHANGES
    )]
    TooLarge,
}

impl EventLogBuilder {
    /// Starts a log with these nodes. There must be at most [`MAX_NODES`] nodes.
    pub fn new(nodes: Vec<String>) -> Self {
        EventLogBuilder {
            log: EventLog {
                nodes,
                times: Vec::new(),
                starts: vec![0],
                changes: Vec::new(),
                clock: Clock::UNKNOWN,
                quality: None,
                queue: None,
                classes: None,
            },
        }
    }

    /// Adds a node, which is busy until its first change. Returns the node's index, or `None` if the log already has
    /// [`MAX_NODES`] nodes.
    pub fn push_node(&mut self, name: &str) -> Option<u32> {
        let index = self.log.nodes.len();
        if index >= MAX_NODES {
            return None;
        }
        self.log.nodes.push(name.to_owned());
        u32::try_from(index).ok()
    }

    /// Adds a row, which must follow the rules of [`EventLog`]. Its time must not be before the previous row's time,
    /// its changes must be sorted by node, and each change must flip the state of its node. [`EventLogBuilder::finish`]
    /// checks these rules.
    #[inline]
    pub fn push_row(&mut self, time: Utc, changes: impl IntoIterator<Item = Change>) {
        self.log.times.push(time);
        self.log.changes.extend(changes);
        self.log.starts.push(self.log.changes.len());
    }

    /// Number of changes in the last row.
    fn last_changes(&self) -> usize {
        let starts = &self.log.starts;
        starts[starts.len() - 1] - starts[starts.len().saturating_sub(2)]
    }

    /// Sets the batch queue of the row that was pushed last. A log has a queue for every row or for no row.
    pub fn push_queue(&mut self, queue: RowQueue<'_>) {
        self.log.queue.get_or_insert_default().push(queue);
    }

    /// Sets the log's quality, which states what the log's source leaves unknown.
    pub fn set_quality(&mut self, quality: Option<Quality>) {
        self.log.quality = quality;
    }

    /// Sets the classes of the nodes. Every node must have a class.
    pub fn set_classes(&mut self, classes: Option<NodeClasses>) {
        self.log.classes = classes;
    }

    /// Whether there are more than [`MAX_ROWS`] rows or [`MAX_CHANGES`] changes.
    pub fn is_too_large(&self) -> bool {
        self.log.times.len() > MAX_ROWS || self.log.changes.len() > MAX_CHANGES
    }

    /// Names of the nodes so far.
    pub fn nodes(&self) -> &[String] {
        &self.log.nodes
    }

    /// Number of rows so far.
    pub fn len(&self) -> usize {
        self.log.len()
    }

    /// Whether there are no rows yet.
    pub fn is_empty(&self) -> bool {
        self.log.is_empty()
    }

    /// The changes of a row.
    pub fn changes(&self, row: usize) -> &[Change] {
        self.log.changes(row)
    }

    /// Shifts the times of all rows so far by this number of seconds.
    pub fn shift(&mut self, seconds: i64) {
        for time in &mut self.log.times {
            *time = time.plus_whole(seconds);
        }
    }

    /// Sets the clock of the times. By default, the clock is unknown.
    pub fn set_clock(&mut self, clock: Clock) {
        self.log.clock = clock;
    }

    /// Returns the log after checking it.
    ///
    /// # Errors
    /// The nodes or rows break a rule of [`EventLog`].
    pub fn finish(self) -> Result<EventLog, InvalidLog> {
        self.check_names()?;
        self.check_rows()?;
        Ok(self.log)
    }

    /// Returns the log without checking it. The rows must follow the rules of [`EventLog`].
    ///
    /// If a row breaks a rule, later operations on the log may panic.
    pub fn finish_trusted(self) -> EventLog {
        self.log
    }

    fn check_names(&self) -> Result<(), InvalidLog> {
        let mut seen = BTreeSet::new();
        for (node, name) in self.log.nodes.iter().enumerate() {
            if name.is_empty() || !seen.insert(name.as_str()) {
                let name = name.clone();
                return Err(InvalidLog::Name { node, name });
            }
        }
        Ok(())
    }

    fn check_rows(&self) -> Result<(), InvalidLog> {
        let log = &self.log;
        let (nodes, rows) = (log.nodes.len(), log.len());
        if nodes == 0 || rows == 0 {
            return Err(InvalidLog::Empty { nodes, rows });
        }
        if nodes > MAX_NODES || self.is_too_large() {
            return Err(InvalidLog::TooLarge);
        }
        let mut idle = vec![false; nodes];
        for (row, (time, changes)) in log.rows().enumerate() {
            if row > 0 && time < log.times[row - 1] {
                return Err(InvalidLog::Order { row });
            }
            let mut last = None;
            for change in changes {
                let node = change.node();
                let Some(state) = idle.get_mut(node as usize) else {
                    return Err(InvalidLog::Node { row, node, nodes });
                };
                if *state == change.idle() || last.is_some_and(|last| node <= last) {
                    return Err(InvalidLog::Change { row, node });
                }
                (*state, last) = (change.idle(), Some(node));
            }
        }
        if let Some(found) = log.classes.as_ref().map(|classes| classes.of_nodes().len())
            && found != nodes
        {
            return Err(InvalidLog::Classes { found, nodes });
        }
        match &log.queue {
            Some(queue) if !queue.fits(&log.starts) => Err(InvalidLog::Queue),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Converts the rows of a dense 0/1 matrix to a log.
    fn from_matrix(matrix: &[Vec<bool>]) -> EventLog {
        let width = matrix.first().map_or(0, Vec::len);
        let mut log = EventLogBuilder::new((0..width).map(|n| format!("n{n}")).collect());
        let mut before = vec![false; width];
        for (i, row) in matrix.iter().enumerate() {
            let changed = (0..width).filter(|&n| row[n] != before[n]);
            log.push_row(
                Utc::from_seconds(i as i64),
                changed
                    .map(|n| Change::new(n as u32, row[n]))
                    .collect::<Vec<_>>(),
            );
            before.clone_from(row);
        }
        log.finish_trusted()
    }

    /// Slices like BFTrainer's replayer: cuts the matrix and drops rows that equal the previous row, unless the slice
    /// keeps all rows. The last row is kept even if it equals the previous row, unless the slice drops it.
    fn sliced_matrix(matrix: &[Vec<bool>], s: Slice) -> Vec<(i64, Vec<bool>)> {
        let width = matrix.first().map_or(0, Vec::len);
        let first = s.first_node.min(width);
        let last = first.saturating_add(s.nodes.unwrap_or(width)).min(width);
        let mut rows: Vec<(i64, Vec<bool>)> = (0..)
            .zip(matrix)
            .skip(s.skip_rows)
            .map(|(i, row)| (i, row[first..last].to_vec()))
            .collect();
        let end = rows.last().map(|row| row.0).filter(|_| !s.drop_end_row);
        let last = rows.last().map(|row| row.0);
        rows.dedup_by(|later, earlier| {
            let is_kept = Some(later.0) == end || (s.all_rows && Some(later.0) != last);
            later.1 == earlier.1 && !is_kept
        });
        rows
    }

    fn to_matrix(log: &EventLog) -> Vec<(i64, Vec<bool>)> {
        let mut idle = vec![false; log.nodes().len()];
        log.rows()
            .map(|(time, changes)| {
                changes
                    .iter()
                    .for_each(|c| idle[c.node() as usize] = c.idle());
                (time.0 / 1_000_000_000, idle.clone())
            })
            .collect()
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        #[test]
        fn slicing_equals_cutting_the_matrix(
            matrix in (0usize..5).prop_flat_map(|w| prop::collection::vec(prop::collection::vec(any::<bool>(), w), 1..12)),
            all_rows in any::<bool>(),
            skip_rows in 0usize..14,
            first_node in 0usize..7,
            nodes in prop::option::of(0usize..7),
            drop_end_row: bool,
        ) {
            let slice = Slice { skip_rows, first_node, nodes, drop_end_row, all_rows, ..Slice::default() };
            prop_assert_eq!(to_matrix(&from_matrix(&matrix).slice(slice).unwrap()), sliced_matrix(&matrix, slice));
        }
    }

    /// Whether readers would accept the rows. The rows are checked cell by cell on a dense matrix of states.
    fn is_valid(nodes: usize, rows: &[(i64, Vec<(u32, bool)>)]) -> bool {
        let mut state = vec![false; nodes];
        let in_order = rows.windows(2).all(|pair| pair[0].0 <= pair[1].0);
        let changes = rows.iter().all(|(_, changes)| {
            let ascending = changes.windows(2).all(|pair| pair[0].0 < pair[1].0);
            ascending
                && changes.iter().all(|&(node, idle)| {
                    let known = (node as usize) < nodes && state[node as usize] != idle;
                    if known {
                        state[node as usize] = idle;
                    }
                    known
                })
        });
        nodes > 0 && !rows.is_empty() && in_order && changes
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(512))]

        #[test]
        fn the_builder_accepts_what_readers_accept(
            nodes in 0usize..4,
            rows in prop::collection::vec(
                (0i64..6, prop::collection::vec((prop_oneof![0u32..4, Just(u32::MAX)], any::<bool>()), 0..3)),
                0..4,
            ),
            sorted: bool,
        ) {
            let mut rows = rows;
            if sorted {
                rows.sort_by_key(|row| row.0);
            }
            let mut log = EventLogBuilder::new((0..nodes).map(|n| format!("n{n}")).collect());
            for (time, changes) in &rows {
                let changes = changes.iter().map(|&(node, idle)| Change::new(node, idle));
                log.push_row(Utc::from_seconds(*time), changes);
            }
            prop_assert_eq!(log.finish().is_ok(), is_valid(nodes, &rows));
        }
    }

    #[test]
    fn names_of_nodes_are_their_own() {
        for names in [["a", "a"], ["", "a"]] {
            let log = EventLogBuilder::new(names.map(str::to_owned).into());
            assert!(matches!(log.finish(), Err(InvalidLog::Name { .. })));
        }
    }

    // One node is idle for 2 s, and then two nodes are idle for 1 s.
    #[test]
    fn idle_node_seconds_are_the_area_under_the_idle_count() {
        let log = from_matrix(&[
            vec![true, false],
            vec![true, false],
            vec![true, true],
            vec![false, false],
        ]);
        assert_eq!(log.idle_node_seconds(), 1.0 + 1.0 + 2.0);
    }
}
