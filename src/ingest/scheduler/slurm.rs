//! Slurm's jobs, as `sacct` lists them.

use std::collections::BTreeMap;

use super::clock::stamp;
use super::intake::{Intake, Runs};
use super::reader::LineReader;
use super::tally::Reason;
use crate::error::Result;
use crate::ingest::delimited::{Layout, LogTable, Row};
use crate::ingest::input::{Line, Place};
use crate::occupancy::Hold;

/// The command that lists jobs as they are read here.
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

/// Reads `sacct`'s table.
pub(super) struct SacctReader {
    table: LogTable,
    /// Jobs without an end so far, by id and start: a later list may know their ends.
    running: BTreeMap<(String, i64), Runs>,
}

impl SacctReader {
    /// A reader of tables with this delimiter, or with the one that their header has.
    pub fn new(delimiter: Option<String>) -> Self {
        SacctReader {
            table: LogTable::new(LAYOUT, delimiter),
            running: BTreeMap::new(),
        }
    }
}

impl LineReader for SacctReader {
    fn begin(&mut self) {
        self.table.begin();
    }

    fn line(&mut self, line: &Line<'_>, intake: &mut Intake) -> Result<()> {
        match self.table.row(line)? {
            None => Ok(()),
            Some(Ok(row)) => job(&row, line.place, intake, &mut self.running),
            Some(Err(found)) => intake.fault(Reason::Unreadable, line.place, found),
        }
    }

    fn finish(&mut self, intake: &mut Intake) -> Result<()> {
        for ((_, start), runs) in std::mem::take(&mut self.running) {
            intake.hold_runs(&runs, Hold::Running, start, None)?;
        }
        Ok(())
    }
}

fn job(
    row: &Row<'_, '_>,
    place: Place<'_>,
    intake: &mut Intake,
    running: &mut BTreeMap<(String, i64), Runs>,
) -> Result<()> {
    let (id, state) = (row.text(ID), row.text(STATE));
    if id.contains('.') {
        intake.tally.leave_out(Reason::Step);
        return Ok(());
    }
    if is_unknown(row.text(START)) {
        intake.tally.leave_out(Reason::NeverStarted);
        return Ok(());
    }
    if is_unknown(row.text(NODES)) {
        return without_nodes(row, place, intake);
    }
    // It helps to tell apart the hours that a clock repeats.
    let submit = row.cell(SUBMIT).filter(|_| intake.clock.has_zone());
    let submit = submit.and_then(stamp);
    let times = [submit, stamp(row.text(START)), stamp(row.text(END))];
    if times[1].is_none() {
        return no_time(row.text(START), place, intake);
    }
    if times[2].is_none() && !is_unknown(row.text(END)) {
        return no_time(row.text(END), place, intake);
    }
    let [_, Some(start), end] = intake.seconds(place, times)? else {
        return Ok(());
    };
    if end.is_none() && !holds_nodes(state) {
        return intake.fault(Reason::NoEnd, place, format_args!("{state} without an end"));
    }
    let count = row.cell(COUNT).and_then(|count| count.parse().ok());
    let Some(runs) = intake.look_up(place, [row.text(NODES)], count)? else {
        return Ok(());
    };
    if end.is_none() {
        running.insert((id.to_owned(), start), runs.to_vec());
        return Ok(());
    }
    if !running.is_empty() {
        running.remove(&(id.to_owned(), start));
    }
    intake.hold(place, Hold::Running, start, end)
}

/// A job without a list of nodes: it did not run, or the list is lost.
fn without_nodes(row: &Row<'_, '_>, place: Place<'_>, intake: &mut Intake) -> Result<()> {
    let state = row.text(STATE);
    let waiting = ["PENDING", "CANCELLED", "REQUEUED", "DEADLINE", "REVOKED"];
    if waiting.iter().any(|word| state.starts_with(word)) || row.text(START) == row.text(END) {
        intake.tally.leave_out(Reason::NeverStarted);
        return Ok(());
    }
    intake.fault(
        Reason::NoNodes,
        place,
        format_args!("{state} on {:?}", row.text(NODES)),
    )
}

pub(super) fn no_time(text: &str, place: Place<'_>, intake: &mut Intake) -> Result<()> {
    let found = format_args!("{text:?} for a time such as 2026-01-31T08:00:00");
    intake.fault(Reason::Unreadable, place, found)
}

/// What Slurm writes for what it does not know.
pub(in crate::ingest) fn is_unknown(text: &str) -> bool {
    matches!(
        text,
        "" | "Unknown" | "None" | "None assigned" | "(null)" | "N/A"
    )
}

/// Whether a job in this state still has its nodes.
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
