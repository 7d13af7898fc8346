//! ALCF job records: a CSV table with a row for every job.

use std::borrow::Cow;

use super::clock::stamp;
use super::cobalt::locations;
use super::hostlist;
use super::input::{Line, Place};
use super::intake::Intake;
use super::reader::LineReader;
use super::slurm::{is_unknown, no_time};
use super::tally::Reason;
use crate::error::{Fault, Faults, Result};
use crate::occupancy::Hold;
use crate::words::counted;

/// Where the records come from.
pub const WHERE: &str = "a DIM_JOB_COMPOSITE file of https://reports.alcf.anl.gov/data/";

const COLUMNS: [&str; 4] = ["START_TIMESTAMP", "END_TIMESTAMP", "NODES_USED", "LOCATION"];
/// Columns that must be there.
const REQUIRED: usize = 3;

/// Jobs that are looked at before it is settled whether locations name nodes.
const LOOKED_AT: usize = 1_000;

/// Reads the table.
#[derive(Default)]
pub(super) struct DjcReader {
    /// Columns of the header, and where those asked for are.
    header: Option<(usize, [Option<usize>; COLUMNS.len()])>,
    /// The first jobs, until it is settled how they are read.
    waiting: Vec<Job>,
    settled: Option<Nodes>,
}

/// What jobs say of their nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nodes {
    /// Their locations name as many as they used.
    Named,
    /// Only how many.
    Counted,
}

/// A job, and where it is in the log.
struct Job {
    start: i64,
    end: Option<i64>,
    nodes: u32,
    location: String,
    line: u64,
    file: std::path::PathBuf,
}

impl LineReader for DjcReader {
    fn begin(&mut self) {
        self.header = None;
    }

    fn line(&mut self, line: &Line<'_>, intake: &mut Intake) -> Result<()> {
        let cells = cells(&line.text);
        let Some((width, at)) = self.header else {
            self.header = Some(find(&cells, line.place)?);
            return Ok(());
        };
        if cells.len() != width {
            let cells = counted(cells.len(), "cell");
            let found = format_args!("{cells}, not {width} as in the header");
            return intake.fault(Reason::Unreadable, line.place, found);
        }
        let cell = |wanted: usize| at[wanted].map_or("", |at| cells[at].trim());
        if let Some(job) = job(cell, line.place, intake)? {
            self.take(job, intake)?;
        }
        Ok(())
    }

    fn finish(&mut self, intake: &mut Intake) -> Result<()> {
        if self.settled.is_none() {
            self.settle(intake)?;
        }
        Ok(())
    }
}

impl DjcReader {
    fn take(&mut self, job: Job, intake: &mut Intake) -> Result<()> {
        match self.settled {
            Some(nodes) => hold(&job, nodes, intake),
            None => {
                self.waiting.push(job);
                match self.waiting.len() < LOOKED_AT {
                    true => Ok(()),
                    false => self.settle(intake),
                }
            }
        }
    }

    /// Locations are used where most of the first jobs have one that fits.
    fn settle(&mut self, intake: &mut Intake) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let fitting = waiting.iter().filter(|job| fits(job)).count();
        let nodes = match fitting * 2 > waiting.len() {
            true => Nodes::Named,
            false => Nodes::Counted,
        };
        self.settled = Some(nodes);
        waiting.iter().try_for_each(|job| hold(job, nodes, intake))
    }
}

/// Whether a job's location names as many nodes as it used.
fn fits(job: &Job) -> bool {
    let lists = locations(&job.location);
    let counts: Result<Vec<usize>, _> = lists.iter().map(|list| hostlist::count(list)).collect();
    let count: Option<usize> = counts.ok().map(|counts| counts.iter().sum());
    count.is_some_and(|count| count > 0 && count == job.nodes as usize)
}

fn hold(job: &Job, nodes: Nodes, intake: &mut Intake) -> Result<()> {
    let place = Place::line(&job.file, job.line);
    if nodes == Nodes::Counted {
        return intake.hold_count(place, job.nodes, job.start, job.end);
    }
    let lists = locations(&job.location);
    if lists.is_empty() {
        return intake.fault(Reason::NoNodes, place, "a job without LOCATION");
    }
    let count = Some(job.nodes as usize);
    if intake
        .look_up(place, lists.iter().map(String::as_str), count)?
        .is_some()
    {
        intake.hold(place, Hold::Running, job.start, job.end)?;
    }
    Ok(())
}

fn job<'l>(
    cell: impl Fn(usize) -> &'l str,
    place: Place<'_>,
    intake: &mut Intake,
) -> Result<Option<Job>> {
    let (start, end, nodes) = (cell(0), cell(1), cell(2));
    if is_unknown(start) {
        intake.tally.leave_out(Reason::NeverStarted);
        return Ok(None);
    }
    let times = [stamp(start), stamp(end)];
    if times[0].is_none() || times[1].is_none() && !is_unknown(end) {
        let text = if times[0].is_none() { start } else { end };
        no_time(text, place, intake)?;
        return Ok(None);
    }
    let [Some(from), to] = intake.seconds(place, times)? else {
        return Ok(None);
    };
    let Some(nodes) = whole(nodes).filter(|nodes| *nodes > 0) else {
        let found = format_args!("{nodes:?} for NODES_USED");
        intake.fault(Reason::NoNodes, place, found)?;
        return Ok(None);
    };
    Ok(Some(Job {
        start: from,
        end: to,
        nodes,
        location: cell(3).to_owned(),
        line: place.line,
        file: place.file.to_owned(),
    }))
}

/// A whole number, also one written as `512.0`.
pub(in crate::ingest) fn whole(text: &str) -> Option<u32> {
    let (number, fraction) = text.split_once('.').unwrap_or((text, ""));
    let zeros = fraction.bytes().all(|byte| byte == b'0');
    number.parse().ok().filter(|_| zeros)
}

fn find(
    header: &[Cow<'_, str>],
    place: Place<'_>,
) -> Result<(usize, [Option<usize>; COLUMNS.len()])> {
    let position = |name: &str| {
        let mut cells = header.iter();
        cells.position(|cell| cell.trim().eq_ignore_ascii_case(name))
    };
    let at = COLUMNS.map(position);
    let mut faults = Faults::default();
    for (name, _) in COLUMNS
        .iter()
        .zip(at)
        .take(REQUIRED)
        .filter(|c| c.1.is_none())
    {
        let found = format!("no such column among {}", header.join(", "));
        let fault = Fault::of(place.file, found, "a header line with this column").field(*name);
        let fault = fault.at(place.within());
        faults.push(fault.remedy(format!("take {WHERE}")));
    }
    faults.into_result((header.len(), at))
}

/// The cells of a line of CSV.
fn cells(line: &str) -> Vec<Cow<'_, str>> {
    let mut cells = Vec::new();
    let mut rest = Some(line);
    while let Some(text) = rest {
        let (cell, after) = match text.strip_prefix('"') {
            Some(quoted) => quoted_cell(quoted),
            None => match text.split_once(',') {
                Some((cell, after)) => (Cow::Borrowed(cell), Some(after)),
                None => (Cow::Borrowed(text), None),
            },
        };
        cells.push(cell);
        rest = after;
    }
    cells
}

/// A cell past its opening quote, and what follows it.
fn quoted_cell(text: &str) -> (Cow<'_, str>, Option<&str>) {
    let mut cell = String::new();
    let mut rest = text;
    loop {
        let Some((part, after)) = rest.split_once('"') else {
            // Never closed.
            cell.push_str(rest);
            return (cell.into(), None);
        };
        cell.push_str(part);
        match after.strip_prefix('"') {
            Some(after) => {
                cell.push('"');
                rest = after;
            }
            None => {
                let (tail, after) = match after.split_once(',') {
                    Some((tail, after)) => (tail, Some(after)),
                    None => (after, None),
                };
                cell.push_str(tail);
                return (cell.into(), after);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_may_be_quoted() {
        for (line, expected) in [
            ("a,b,", vec!["a", "b", ""]),
            ("\"a,b\",\"c \"\"d\"\"\",e", vec!["a,b", "c \"d\"", "e"]),
            ("\"open,b", vec!["open,b"]),
            ("\"a\"x,b", vec!["ax", "b"]),
            ("", vec![""]),
        ] {
            assert_eq!(cells(line), expected, "{line}");
        }
    }

    #[test]
    fn counts_are_whole() {
        assert_eq!(whole("512.0"), Some(512));
        assert_eq!(whole("512"), Some(512));
        assert_eq!(whole("1.5"), None);
        assert_eq!(whole("-1"), None);
    }
}
