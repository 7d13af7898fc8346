//! Reads Slurm's node events from the table of `sacctmgr list events`.

use super::clock::stamp;
use super::collector::HoldCollector;
use super::counts::Reason;
use super::reader::LineReader;
use super::slurm::{is_unknown, no_time};
use gleaner_core::error::Result;
use gleaner_io::delimited::{Layout, LogTable, Row};
use gleaner_io::input::{Line, Place};
use gleaner_occupancy::Hold;

/// The command that writes the table with the columns that are read here.
pub const COMMAND: &str = "sacctmgr -P list events Start=<from> \
                           format=Cluster,NodeName,TimeStart,TimeEnd,State,Reason";

const LAYOUT: Layout = Layout {
    columns: &[
        &["NodeName", "Node Name"],
        &["TimeStart", "Start", "Time Start"],
        &["TimeEnd", "End", "Time End"],
        &["State"],
    ],
    required: 4,
    quoted: false,
    remedy: || format!("make the file with `{COMMAND}`"),
};
const NODE: usize = 0;
const START: usize = 1;
const END: usize = 2;
const STATE: usize = 3;

/// Reads the table of events.
pub(super) struct EventReader(LogTable);

impl EventReader {
    /// A reader of tables with this delimiter; if `None`, the header shows it.
    pub fn new(delimiter: Option<String>) -> Self {
        EventReader(LogTable::new(LAYOUT, delimiter))
    }
}

impl LineReader for EventReader {
    fn begin(&mut self) {
        self.0.begin();
    }

    fn line(&mut self, line: &Line<'_>, collector: &mut HoldCollector) -> Result<()> {
        match self.0.row(line)? {
            None => Ok(()),
            Some(Ok(row)) => event(&row, line.place, collector),
            Some(Err(found)) => collector.fault(Reason::Unreadable, line.place, found),
        }
    }

    fn finish(&mut self, _: &mut HoldCollector) -> Result<()> {
        Ok(())
    }
}

/// Adds the outage of a row.
fn event(row: &Row<'_, '_>, place: Place<'_>, collector: &mut HoldCollector) -> Result<()> {
    // An event without a node is about the whole cluster, such as a change of its size.
    let hold = outage(row.text(STATE)).filter(|_| !is_unknown(row.text(NODE)));
    let Some(hold) = hold else {
        collector.log_counts.leave_out(Reason::NoOutage);
        return Ok(());
    };
    let times = [stamp(row.text(START)), stamp(row.text(END))];
    if times[0].is_none() {
        return no_time(row.text(START), place, collector);
    }
    if times[1].is_none() && !is_unknown(row.text(END)) {
        return no_time(row.text(END), place, collector);
    }
    let [Some(start), end] = collector.seconds(place, times)? else {
        return Ok(());
    };
    if collector.look_up(place, [row.text(NODE)], None)?.is_some() {
        collector.hold(place, hold, start, end)?;
    }
    Ok(())
}

/// Why a node in a state such as `DOWN*` or `MIXED+DRAIN` takes no jobs; `None` if it takes jobs.
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
