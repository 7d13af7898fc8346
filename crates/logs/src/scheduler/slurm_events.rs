//! Reads Slurm's node events from the table that `sacctmgr list events` prints.

use std::borrow::Cow;

use super::clock::moment;
use super::collector::{At, Collector};
use super::counts::Reason;
use super::reader::LineReader;
use super::record::{Nodes, Record, Run};
use super::slurm::{is_unknown, no_time};
use crate::occupancy::Hold;
use gleaner_domain::error::Result;
use gleaner_io::delimited::{Layout, LogTable, Row};
use gleaner_io::input::Line;

/// The command that writes the table, with the columns that this reader needs.
pub const COMMAND: &str = "sacctmgr -P list events Start=<from> \
                           format=Cluster,NodeName,TimeStart,TimeEnd,State,Reason";

const LAYOUT: Layout = Layout {
    columns: &[
        &["NodeName", "Node Name"],
        &["TimeStart", "Start", "Time Start"],
        &["TimeEnd", "End", "Time End"],
        &["State"],
    ],
    required: &[NODE, START, END, STATE],
    quoted: false,
    remedy: || format!("make the file with `{COMMAND}`"),
};
const NODE: usize = 0;
const START: usize = 1;
const END: usize = 2;
const STATE: usize = 3;

/// Reads the table of node events.
pub(super) struct EventReader(LogTable);

impl EventReader {
    /// Creates a reader. `delimiter` separates the cells; `None` infers it from the header.
    pub fn new(delimiter: Option<String>) -> Self {
        EventReader(LogTable::new(LAYOUT, delimiter))
    }
}

impl LineReader for EventReader {
    fn begin(&mut self) {
        self.0.begin();
    }

    fn line(&mut self, line: &Line<'_>, collector: &mut Collector<'_>) -> Result<()> {
        match collector.row(&mut self.0, line)? {
            Some(row) => event(&row, collector.log.at(line.place), collector),
            None => Ok(()),
        }
    }
}

/// Reports the outage that a row describes.
fn event(row: &Row<'_, '_>, at: At, collector: &mut Collector<'_>) -> Result<()> {
    let log = &mut collector.log;
    // An event without a node, such as a change in the cluster's size, applies to the whole cluster.
    let hold = outage(row.text(STATE)).filter(|_| !is_unknown(row.text(NODE)));
    let Some(hold) = hold else {
        log.leave_out(Reason::NoOutage);
        return Ok(());
    };
    let (start, end) = (moment(row.text(START)), moment(row.text(END)));
    if start.is_none() {
        return no_time(row.text(START), at, log);
    }
    if end.is_none() && !is_unknown(row.text(END)) {
        return no_time(row.text(END), at, log);
    }
    let lists = [Cow::Borrowed(row.text(NODE))];
    let run = Run {
        start,
        end,
        nodes: Nodes::Named(&lists),
    };
    collector.take(at, &Record::Hold(hold, run))
}

/// The hold on a node in a state such as `DOWN*` or `MIXED+DRAIN`; `None` if the node accepts jobs.
fn outage(state: &str) -> Option<Hold> {
    let usable = [
        "IDLE",
        "ALLOC",
        "ALLOCATED",
        "MIX",
        "MIXED",
        "COMP",
        "COMPLETING",
        "PLANNED",
        "CLOUD",
        "RESUME",
        "UNDRAIN",
        "DYNAMIC_NORM",
    ];
    let mut hold = None;
    for part in state.split('+') {
        let part = part.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
        let found = match part.to_ascii_uppercase().as_str() {
            "" => continue,
            part if usable.contains(&part) => continue,
            part if part.starts_with("DRAIN") || part.starts_with("DRNG") => Hold::Drained,
            part if part.starts_with("RES") || part == "MAINT" => Hold::Reserved,
            _ => Hold::Down,
        };
        hold = Some(hold.map_or(found, |hold: Hold| hold.min(found)));
    }
    hold
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_say_whether_a_node_takes_jobs() {
        for (state, hold) in [
            ("DOWN*", Some(Hold::Down)),
            ("IDLE+DRAIN", Some(Hold::Drained)),
            ("MIXED+DRAIN", Some(Hold::Drained)),
            ("DOWN+DRAIN", Some(Hold::Down)),
            ("MAINT", Some(Hold::Reserved)),
            ("RESERVED", Some(Hold::Reserved)),
            ("FAIL", Some(Hold::Down)),
            ("POWERED_DOWN~", Some(Hold::Down)),
            ("IDLE", None),
            ("ALLOCATED+CLOUD", None),
            ("", None),
        ] {
            assert_eq!(outage(state), hold, "{state}");
        }
    }
}
