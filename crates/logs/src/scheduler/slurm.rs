//! Reads Slurm's jobs from the table of `sacct`.

use std::collections::BTreeMap;

use super::clock::stamp;
use super::collector::{HoldCollector, Runs};
use super::counts::Reason;
use super::duplicates::Duplicates;
use super::reader::LineReader;
use gleaner_core::error::Result;
use gleaner_io::delimited::{Layout, LogTable, Row};
use gleaner_io::input::{Line, Place};
use gleaner_occupancy::Hold;

/// The command that writes the table with the columns that are read here.
pub const COMMAND: &str = "sacct -a -X -P -D -S <from> -E <to> \
                           -o JobIDRaw,State,Submit,Start,End,NNodes,NodeList";

const LAYOUT: Layout = Layout {
    columns: &[
        &["JobIDRaw", "JobID"],
        &["State"],
        &["Start"],
        &["End"],
        &["NodeList"],
        &["NNodes"],
        &["Submit"],
    ],
    required: 5,
    quoted: false,
    remedy: || format!("make the file with `{COMMAND}`"),
};
const ID: usize = 0;
const STATE: usize = 1;
const START: usize = 2;
const END: usize = 3;
const NODES: usize = 4;
const COUNT: usize = 5;
const SUBMIT: usize = 6;

/// Reads the table of `sacct`.
pub(super) struct SacctReader {
    table: LogTable,
    /// Jobs that have no end so far, by id and start. A later table may have their ends.
    running: BTreeMap<(String, i64), Runs>,
    /// The lines read so far, if the log has several files.
    duplicates: Option<Duplicates>,
}

impl SacctReader {
    /// Creates a reader of tables with this delimiter; if `None`, the delimiter is detected from the
    /// header. `are_several` states whether there are several tables: then a repeated line counts once.
    pub fn new(delimiter: Option<String>, are_several: bool) -> Self {
        SacctReader {
            duplicates: are_several.then(Duplicates::default),
            table: LogTable::new(LAYOUT, delimiter),
            running: BTreeMap::new(),
        }
    }
}

impl LineReader for SacctReader {
    fn begin(&mut self) {
        self.table.begin();
    }

    fn line(&mut self, line: &Line<'_>, collector: &mut HoldCollector) -> Result<()> {
        match self.table.row(line)? {
            None => Ok(()),
            Some(Ok(_))
                if self
                    .duplicates
                    .as_mut()
                    .is_some_and(|lines| lines.has(&line.text)) =>
            {
                collector.log_counts.leave_out(Reason::Duplicate);
                Ok(())
            }
            Some(Ok(row)) => job(&row, line.place, collector, &mut self.running),
            Some(Err(found)) => collector.fault(Reason::Unreadable, line.place, found),
        }
    }

    fn finish(&mut self, collector: &mut HoldCollector) -> Result<()> {
        for ((_, start), runs) in std::mem::take(&mut self.running) {
            collector.hold_runs(&runs, Hold::Running, start, None)?;
        }
        Ok(())
    }
}

/// Adds the hold of a job, or keeps the job if it has no end so far.
fn job(
    row: &Row<'_, '_>,
    place: Place<'_>,
    collector: &mut HoldCollector,
    running: &mut BTreeMap<(String, i64), Runs>,
) -> Result<()> {
    let (id, state) = (row.text(ID), row.text(STATE));
    if id.contains('.') {
        collector.log_counts.leave_out(Reason::Step);
        return Ok(());
    }
    if is_unknown(row.text(START)) {
        collector.log_counts.leave_out(Reason::NeverStarted);
        return Ok(());
    }
    if is_unknown(row.text(NODES)) {
        return without_nodes(row, place, collector);
    }
    // The submission time helps to distinguish the two hours with the same local times.
    let submit = row.cell(SUBMIT).filter(|_| collector.clock.has_zone());
    let submit = submit.and_then(stamp);
    let times = [submit, stamp(row.text(START)), stamp(row.text(END))];
    if times[1].is_none() {
        return no_time(row.text(START), place, collector);
    }
    if times[2].is_none() && !is_unknown(row.text(END)) {
        return no_time(row.text(END), place, collector);
    }
    let [_, Some(start), end] = collector.seconds(place, times)? else {
        return Ok(());
    };
    if end.is_none() && !holds_nodes(state) {
        return collector.fault(Reason::NoEnd, place, format_args!("{state} without an end"));
    }
    let count = row.cell(COUNT).and_then(|count| count.parse().ok());
    let Some(runs) = collector.look_up(place, [row.text(NODES)], count)? else {
        return Ok(());
    };
    if end.is_none() {
        running.insert((id.to_owned(), start), runs.to_vec());
        return Ok(());
    }
    if !running.is_empty() {
        running.remove(&(id.to_owned(), start));
    }
    collector.hold(place, Hold::Running, start, end)
}

/// Counts a job without a list of nodes: it never ran, or its list is missing.
fn without_nodes(row: &Row<'_, '_>, place: Place<'_>, collector: &mut HoldCollector) -> Result<()> {
    let state = row.text(STATE);
    let waiting = ["PENDING", "CANCELLED", "REQUEUED", "DEADLINE", "REVOKED"];
    if waiting.iter().any(|word| state.starts_with(word)) || row.text(START) == row.text(END) {
        collector.log_counts.leave_out(Reason::NeverStarted);
        return Ok(());
    }
    collector.fault(
        Reason::NoNodes,
        place,
        format_args!("{state} on {:?}", row.text(NODES)),
    )
}

/// Counts a text that is not a time.
pub(super) fn no_time(text: &str, place: Place<'_>, collector: &mut HoldCollector) -> Result<()> {
    let found = format_args!("{text:?} is not a time such as 2026-01-31T08:00:00");
    collector.fault(Reason::Unreadable, place, found)
}

/// Whether a text is one that Slurm writes for unknown values.
pub fn is_unknown(text: &str) -> bool {
    matches!(
        text,
        "" | "Unknown" | "None" | "None assigned" | "(null)" | "N/A"
    )
}

/// Whether a job in this state still holds its nodes.
fn holds_nodes(state: &str) -> bool {
    let live = [
        "RUNNING",
        "SUSPENDED",
        "COMPLETING",
        "CONFIGURING",
        "RESIZING",
        "SIGNALING",
        "STAGE_OUT",
        "STOPPED",
    ];
    live.iter().any(|word| state.starts_with(word))
}
