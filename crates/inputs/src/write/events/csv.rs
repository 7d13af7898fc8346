//! Writes event logs as CSV.

use std::io::{self, Write};

use csv::Writer;

use super::long_rows;
use crate::events::classes::COLUMN;
use gleaner_domain::{Change, Clock, EventLog, NodeClasses, Utc};

pub(super) fn write_long(log: &EventLog, out: impl Write) -> io::Result<()> {
    let mut writer = LongWriter::new(log.clock(), log.classes().cloned(), out)?;
    for (time, change) in long_rows(log) {
        writer.push(log.nodes(), time, change)?;
    }
    writer.finish().map(drop)
}

/// Writes a log in the long form, row by row.
pub(super) struct LongWriter<W: Write> {
    writer: Writer<W>,
    clock: Clock,
    time: Option<Utc>,
    /// The current time as a string, formatted once for all rows with this time.
    text: String,
    /// The classes of the nodes, and the number of nodes whose classes have been written. The rows of the first event
    /// contain the classes, because these rows list all nodes in order.
    classes: Option<(NodeClasses, u32)>,
}

impl<W: Write> LongWriter<W> {
    /// Starts the table for a log with this clock and these node classes, and writes its header.
    pub fn new(clock: &Clock, classes: Option<NodeClasses>, out: W) -> io::Result<Self> {
        let mut writer = Writer::from_writer(out);
        let class = classes.is_some().then_some(COLUMN);
        writer.write_record(["time", "node", "state"].into_iter().chain(class))?;
        Ok(LongWriter {
            writer,
            clock: clock.clone(),
            time: None,
            text: String::new(),
            classes: classes.map(|classes| (classes, 0)),
        })
    }

    /// Adds a row. If `change` is `None`, the row has no node.
    pub fn push(&mut self, nodes: &[String], time: Utc, change: Option<Change>) -> io::Result<()> {
        if self.time != Some(time) {
            self.time = Some(time);
            self.text = self.clock.show(time);
        }
        let (node, state) = match change {
            None => ("", ""),
            Some(change) => {
                let node = nodes[change.node() as usize].as_str();
                (node, if change.idle() { "1" } else { "0" })
            }
        };
        let class = match &mut self.classes {
            None => None,
            Some((classes, next)) if change.is_some_and(|change| change.node() == *next) => {
                let class = classes.of(*next);
                *next += 1;
                Some(classes.names()[class].as_str())
            }
            Some(_) => Some(""),
        };
        let cells = [self.text.as_str(), node, state];
        self.writer.write_record(cells.into_iter().chain(class))?;
        Ok(())
    }

    /// Ends the table and returns the underlying writer.
    pub fn finish(self) -> io::Result<W> {
        self.writer.into_inner().map_err(|e| e.into_error())
    }
}

pub(super) fn write_wide(log: &EventLog, mut out: impl Write) -> io::Result<()> {
    let mut header = Writer::from_writer(&mut out);
    header.write_record(
        ["time"]
            .into_iter()
            .chain(log.nodes().iter().map(String::as_str)),
    )?;
    header.flush()?;
    drop(header);
    // The part of a row that follows the time: `,0` or `,1` for every node. A change replaces one
    // byte.
    let mut row = b",0".repeat(log.nodes().len());
    row.push(b'\n');
    for (time, changes) in log.rows() {
        for change in changes {
            row[2 * change.node() as usize + 1] = if change.idle() { b'1' } else { b'0' };
        }
        out.write_all(log.clock().show(time).as_bytes())?;
        out.write_all(&row)?;
    }
    Ok(())
}
