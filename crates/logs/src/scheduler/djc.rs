//! Reads ALCF's job records: a CSV table with a row for every job.

use super::clock::stamp;
use super::cobalt::locations;
use super::collector::HoldCollector;
use super::counts::Reason;
use super::hostlist;
use super::reader::LineReader;
use super::slurm::{is_unknown, no_time};
use gleaner_core::error::Result;
use gleaner_io::delimited::{Layout, LogTable, Row};
use gleaner_io::input::{Line, Place};
use gleaner_occupancy::Hold;

/// Where users find the records, for messages.
pub const WHERE: &str = "a DIM_JOB_COMPOSITE file of https://reports.alcf.anl.gov/data/";

const LAYOUT: Layout = Layout {
    columns: &[
        &["START_TIMESTAMP"],
        &["END_TIMESTAMP"],
        &["NODES_USED"],
        &["LOCATION"],
    ],
    required: 3,
    quoted: true,
    remedy: || format!("use {WHERE}"),
};
const START: usize = 0;
const END: usize = 1;
const NODES: usize = 2;
const LOCATION: usize = 3;

/// Number of first jobs that decide whether locations name nodes.
const LOOKED_AT: usize = 1_000;

/// Reads the table. The first jobs are kept until the reader knows whether locations name nodes.
pub(super) struct DjcReader {
    table: LogTable,
    /// The first jobs, until this is decided.
    waiting: Vec<Job>,
    /// What locations say of nodes; `None` until it is decided.
    settled: Option<Nodes>,
}

/// What the rows say of the nodes of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nodes {
    /// Locations name the nodes.
    Named,
    /// Rows only count the nodes.
    Counted,
}

/// A job and its place in the log. Times are in seconds since 1970.
struct Job {
    start: i64,
    end: Option<i64>,
    nodes: u32,
    location: String,
    line: u64,
    file: std::path::PathBuf,
}

impl Default for DjcReader {
    fn default() -> Self {
        DjcReader {
            table: LogTable::new(LAYOUT, None),
            waiting: Vec::new(),
            settled: None,
        }
    }
}

impl LineReader for DjcReader {
    fn begin(&mut self) {
        self.table.begin();
    }

    fn line(&mut self, line: &Line<'_>, collector: &mut HoldCollector) -> Result<()> {
        let row = match self.table.row(line)? {
            None => return Ok(()),
            Some(Ok(row)) => row,
            Some(Err(found)) => return collector.fault(Reason::Unreadable, line.place, found),
        };
        if let Some(job) = job(&row, line.place, collector)? {
            self.take(job, collector)?;
        }
        Ok(())
    }

    fn finish(&mut self, collector: &mut HoldCollector) -> Result<()> {
        if self.settled.is_none() {
            self.settle(collector)?;
        }
        Ok(())
    }
}

impl DjcReader {
    /// Adds the job, or keeps it if the meaning of locations is not decided yet.
    fn take(&mut self, job: Job, collector: &mut HoldCollector) -> Result<()> {
        match self.settled {
            Some(nodes) => hold(&job, nodes, collector),
            None => {
                self.waiting.push(job);
                match self.waiting.len() < LOOKED_AT {
                    true => Ok(()),
                    false => self.settle(collector),
                }
            }
        }
    }

    /// Decides the meaning of locations, and adds the jobs that were kept. Locations are used if
    /// more than half of the first jobs have one that names as many nodes as the job used.
    fn settle(&mut self, collector: &mut HoldCollector) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let fitting = waiting.iter().filter(|job| fits(job)).count();
        let nodes = match fitting * 2 > waiting.len() {
            true => Nodes::Named,
            false => Nodes::Counted,
        };
        self.settled = Some(nodes);
        waiting
            .iter()
            .try_for_each(|job| hold(job, nodes, collector))
    }
}

/// Whether a job's location names as many nodes as the job used.
fn fits(job: &Job) -> bool {
    let lists = locations(&job.location);
    let counts: Result<Vec<usize>, _> = lists.iter().map(|list| hostlist::count(list)).collect();
    let count: Option<usize> = counts.ok().map(|counts| counts.iter().sum());
    count.is_some_and(|count| count > 0 && count == job.nodes as usize)
}

fn hold(job: &Job, nodes: Nodes, collector: &mut HoldCollector) -> Result<()> {
    let place = Place::line(&job.file, job.line);
    if nodes == Nodes::Counted {
        return collector.hold_count(place, job.nodes, job.start, job.end);
    }
    let lists = locations(&job.location);
    if lists.is_empty() {
        return collector.fault(Reason::NoNodes, place, "a job without LOCATION");
    }
    let count = Some(job.nodes as usize);
    if collector
        .look_up(place, lists.iter().map(String::as_str), count)?
        .is_some()
    {
        collector.hold(place, Hold::Running, job.start, job.end)?;
    }
    Ok(())
}

/// The job of a row, or `None` if it cannot be used, which is counted.
fn job(row: &Row<'_, '_>, place: Place<'_>, collector: &mut HoldCollector) -> Result<Option<Job>> {
    let (start, end, nodes) = (row.text(START), row.text(END), row.text(NODES));
    if is_unknown(start) {
        collector.log_counts.leave_out(Reason::NeverStarted);
        return Ok(None);
    }
    let times = [stamp(start), stamp(end)];
    if times[0].is_none() || times[1].is_none() && !is_unknown(end) {
        let text = if times[0].is_none() { start } else { end };
        no_time(text, place, collector)?;
        return Ok(None);
    }
    let [Some(from), to] = collector.seconds(place, times)? else {
        return Ok(None);
    };
    let Some(nodes) = whole(nodes).filter(|nodes| *nodes > 0) else {
        let found = format_args!("{nodes:?} is not a valid NODES_USED");
        collector.fault(Reason::NoNodes, place, found)?;
        return Ok(None);
    };
    Ok(Some(Job {
        start: from,
        end: to,
        nodes,
        location: row.text(LOCATION).to_owned(),
        line: place.line,
        file: place.file.to_owned(),
    }))
}

/// A whole number, which may be written with a zero fraction such as `512.0`.
pub fn whole(text: &str) -> Option<u32> {
    let (number, fraction) = text.split_once('.').unwrap_or((text, ""));
    let zeros = fraction.bytes().all(|byte| byte == b'0');
    number.parse().ok().filter(|_| zeros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_counts_are_parsed() {
        assert_eq!(whole("512.0"), Some(512));
        assert_eq!(whole("512"), Some(512));
        assert_eq!(whole("1.5"), None);
        assert_eq!(whole("-1"), None);
    }
}
