//! Event logs as CSV.

use std::io::{self, Write};

use csv::Writer;

use super::long_rows;
use crate::domain::EventLog;

pub(super) fn write_long(log: &EventLog, out: impl Write) -> io::Result<()> {
    let mut writer = Writer::from_writer(out);
    writer.write_record(["time", "node", "state"])?;
    for (time, change) in long_rows(log) {
        let time = time.to_string();
        match change {
            None => writer.write_record([&time, "", ""])?,
            Some(change) => {
                let node = &log.nodes()[change.node() as usize];
                let state = if change.idle() { "1" } else { "0" };
                writer.write_record([&time, node, state])?;
            }
        }
    }
    writer.flush()
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
    // The row as it is written, `,0` for every node; a change changes one byte of it.
    let mut row = b",0".repeat(log.nodes().len());
    row.push(b'\n');
    for (time, changes) in log.rows() {
        for change in changes {
            row[2 * change.node() as usize + 1] = if change.idle() { b'1' } else { b'0' };
        }
        write!(out, "{time}")?;
        out.write_all(&row)?;
    }
    Ok(())
}
