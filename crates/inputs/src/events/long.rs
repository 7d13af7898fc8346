//! The long form of an event log: a row for every change of a node's state.
//!
//! The columns are `time`, `node` and `state` (1 for idle, 0 for busy), in any order. The column `state` may also be
//! named `idle`, with the values `true` and `false`:
//!
//! ```csv
//! time,node,state
//! 2021-02-10 00:08:52,a01,1
//! 2021-02-10 00:08:52,a02,0
//! 2021-02-10 00:48:48,a02,1
//! 2021-02-10 00:52:10,,
//! 2021-02-10 00:55:00,a01,0
//! ```
//!
//! - Consecutive rows with the same time form one event.
//! - A node is busy until its first row. A row may repeat the current state of its node. It is a fault if a node has
//!   two different states in one event.
//! - Nodes are ordered by their first rows.
//! - An optional fourth column `class` contains the class of the row's node. It is enough to state the class in one row
//!   of each node, because empty cells are ignored. Either every node has a class, or none does.
//! - A row with neither node nor state begins a new event. Such a row therefore represents an event without changes,
//!   and separates two events at the same time.
//!
//! The writers list every node in the first event, with its class if the log has classes. A log that is written and
//! read again therefore keeps the order of its nodes, the nodes that are never idle, and the number of events, which
//! `--skip-rows` counts.

use std::collections::BTreeMap;
use std::path::Path;

use super::Read;
use super::assemble::Assembler;
use super::classes::ClassColumn;
use super::placing::Placing;
use gleaner_domain::error::Result;
use gleaner_domain::{Change, Utc};
use gleaner_io::fault::Place;

/// A description of the expected columns, for messages.
pub(super) const EXPECTED_COLUMNS: &str = "only time, node, state and optionally class";

/// Accepted names of the state column.
pub(super) const STATE_NAMES: [&str; 2] = ["state", "idle"];

/// Builds a log from the rows of a long table.
pub(super) struct LongBuilder<'a> {
    pub log: Assembler<'a>,
    /// Index of each node by its name.
    index: BTreeMap<String, u32>,
    nodes: Vec<Node>,
    /// Time of the current event.
    event: Option<Utc>,
    /// Indices of the nodes that have rows in the current event.
    mentioned: Vec<u32>,
    /// The classes of the nodes so far.
    classes: ClassColumn,
}

/// The state of a node while its log is read.
struct Node {
    /// Whether the node was idle after the previous event.
    idle: bool,
    /// Whether the node is idle in the current event; `None` if the node has no row in this event.
    said: Option<bool>,
}

impl<'a> LongBuilder<'a> {
    pub fn new(path: &'a Path, placing: Placing) -> Self {
        LongBuilder {
            log: Assembler::new(path, placing),
            index: BTreeMap::new(),
            nodes: Vec::new(),
            event: None,
            mentioned: Vec::new(),
            classes: ClassColumn::default(),
        }
    }

    /// Begins a new event. Must be called for a row that has neither a node nor a state.
    pub fn begin(&mut self, time: Utc, place: Place) -> Result<()> {
        self.end_event()?;
        self.log.check_order(time, place)?;
        self.event = Some(time);
        Ok(())
    }

    /// Adds a row, which sets the state of `node` at `time`. Returns the index of the node.
    pub fn mention(&mut self, time: Utc, node: &str, idle: bool, place: Place) -> Result<u32> {
        if self.event != Some(time) {
            self.begin(time, place)?;
        }
        let index = match self.index.get(node) {
            Some(index) => *index,
            None => self.add_node(node)?,
        };
        let said = &mut self.nodes[index as usize].said;
        match said.replace(idle) {
            None => self.mentioned.push(index),
            Some(before) if before == idle => {}
            Some(_) => {
                let time = self.log.shown(time);
                let found = format!("two states of {node:?} at {time}");
                self.log.fault(
                    place,
                    "state",
                    found,
                    "only one state per node at the same time",
                )?;
            }
        }
        Ok(index)
    }

    /// Records the class in a cell of a row. `node` is the index of the row's node. If a file has the column `class`,
    /// this method must be called for every row with a node.
    pub fn class(&mut self, node: u32, cell: &[u8], place: Place) -> Result<()> {
        match self.classes.add(&self.log, node, cell, place)? {
            None => Ok(()),
            Some(fault) => self.log.faults().add(fault),
        }
    }

    /// Returns the log and notes for the user, or the faults if there are any.
    pub fn finish(mut self) -> Result<Read> {
        self.end_event()?;
        match self.classes.finish(&self.log) {
            Ok(classes) => self.log.set_classes(classes),
            Err(fault) => self.log.faults().add(*fault)?,
        }
        self.log.finish()
    }

    fn add_node(&mut self, name: &str) -> Result<u32> {
        let index = self.log.push_node(name)?;
        self.index.insert(name.to_owned(), index);
        self.nodes.push(Node {
            idle: false,
            said: None,
        });
        Ok(index)
    }

    /// Adds the changes of the current event to the log.
    fn end_event(&mut self) -> Result<()> {
        let Some(time) = self.event.take() else {
            return Ok(());
        };
        self.mentioned.sort_unstable();
        let nodes = &mut self.nodes;
        let changes = self.mentioned.drain(..).filter_map(|index| {
            let node = &mut nodes[index as usize];
            let idle = node.said.take()?;
            let changed = idle != node.idle;
            node.idle = idle;
            changed.then(|| Change::new(index, idle))
        });
        self.log.push_row(time, changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_domain::EventLog;

    fn build(rows: &[(i64, &str, bool)]) -> Result<EventLog> {
        let mut long = LongBuilder::new(Path::new("log"), Placing::default());
        for (row, (seconds, node, idle)) in rows.iter().enumerate() {
            let (time, place) = (Utc::from_seconds(*seconds), Place::Row(row));
            if node.is_empty() {
                long.begin(time, place)?;
            } else {
                long.mention(time, node, *idle, place)?;
            }
        }
        Ok(long.finish()?.0)
    }

    #[test]
    fn nodes_are_busy_until_mentioned_and_repetition_is_harmless() {
        let log = build(&[
            (1, "b", true),
            (1, "a", false),
            (2, "c", true),
            (2, "a", true),
            (2, "b", true),
            (2, "a", true),
            (3, "a", true),
        ])
        .unwrap();
        assert_eq!(log.nodes(), ["b", "a", "c"]);
        assert_eq!(log.changes(0), [Change::new(0, true)]);
        assert_eq!(log.changes(1), [Change::new(1, true), Change::new(2, true)]);
        assert_eq!(log.changes(2), []);
        assert_eq!(log.len(), 3);
    }

    #[test]
    fn rows_without_a_node_separate_events() {
        let log = build(&[
            (1, "a", true),
            (2, "", false),
            (2, "", false),
            (2, "a", false),
        ])
        .unwrap();
        assert_eq!(log.times(), [1, 2, 2].map(Utc::from_seconds));
        assert_eq!(log.changes(1), []);
        assert_eq!(log.changes(2), [Change::new(0, false)]);
    }
}
