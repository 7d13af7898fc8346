//! Reads ALCF's job records: a CSV table with a row for every job.

use std::borrow::Cow;

use super::clock::moment;
use super::cobalt::locations;
use super::collector::{At, Collector, Log};
use super::counts::Reason;
use super::hostlist;
use super::reader::LineReader;
use super::record::{self, Record, Run};
use super::slurm::{is_unknown, no_time};
use gleaner_domain::error::Result;
use gleaner_io::delimited::{Layout, LogTable, Row};
use gleaner_io::input::Line;

/// Where users find the records, for messages.
pub const WHERE: &str = "a DIM_JOB_COMPOSITE file of https://reports.alcf.anl.gov/data/";

const LAYOUT: Layout = Layout {
    columns: &[
        &["START_TIMESTAMP"],
        &["END_TIMESTAMP"],
        &["NODES_USED"],
        &["LOCATION"],
    ],
    required: &[START, END, NODES],
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
    /// The first jobs, until the meaning of locations is decided.
    waiting: Vec<Job>,
    /// The meaning of locations; `None` until it is decided.
    settled: Option<Nodes>,
}

/// Whether the rows name the nodes of jobs, or only count them.
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
    at: At,
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

    fn line(&mut self, line: &Line<'_>, collector: &mut Collector<'_>) -> Result<()> {
        let Some(row) = collector.row(&mut self.table, line)? else {
            return Ok(());
        };
        let at = collector.log.at(line.place);
        match job(&row, at, &mut collector.log)? {
            Some(job) => self.take(job, collector),
            None => Ok(()),
        }
    }

    fn finish(&mut self, collector: &mut Collector<'_>) -> Result<()> {
        if self.settled.is_none() {
            self.settle(collector)?;
        }
        Ok(())
    }
}

impl DjcReader {
    /// Adds the job, or keeps it if the meaning of locations is not decided yet.
    fn take(&mut self, job: Job, collector: &mut Collector<'_>) -> Result<()> {
        match self.settled {
            Some(nodes) => report(&job, nodes, collector),
            None => {
                self.waiting.push(job);
                if self.waiting.len() < LOOKED_AT {
                    Ok(())
                } else {
                    self.settle(collector)
                }
            }
        }
    }

    /// Decides the meaning of locations, and adds the jobs that were kept. Locations are used if
    /// more than half of the first jobs have one that names as many nodes as the job used.
    fn settle(&mut self, collector: &mut Collector<'_>) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let fitting = waiting.iter().filter(|job| fits(job)).count();
        let nodes = if fitting * 2 > waiting.len() {
            Nodes::Named
        } else {
            Nodes::Counted
        };
        self.settled = Some(nodes);
        waiting
            .iter()
            .try_for_each(|job| report(job, nodes, collector))
    }
}

/// Whether a job's location names as many nodes as the job used.
fn fits(job: &Job) -> bool {
    let counts = locations(&job.location).map(|list| hostlist::count(&list));
    let count: Result<usize, _> = counts.sum();
    count.is_ok_and(|count| count > 0 && count == job.nodes as usize)
}

/// Reports a job.
fn report(job: &Job, nodes: Nodes, collector: &mut Collector<'_>) -> Result<()> {
    let lists: Vec<Cow<'_, str>> = match nodes {
        Nodes::Counted => Vec::new(),
        Nodes::Named => locations(&job.location).collect(),
    };
    let nodes = match nodes {
        Nodes::Counted => record::Nodes::Count(job.nodes),
        Nodes::Named if lists.is_empty() => {
            let found = "a job without LOCATION";
            collector.log.fault(Reason::NoNodes, job.at, found)?;
            record::Nodes::Lists(&[], Some(job.nodes as usize))
        }
        Nodes::Named => record::Nodes::Lists(&lists, Some(job.nodes as usize)),
    };
    let whole = record::Job {
        runs: &[Run::between(job.start, job.end, nodes)],
        ..record::Job::default()
    };
    collector.take(job.at, &Record::Job(whole))
}

/// The job of a row, or `None` if it cannot be used, which is counted.
fn job(row: &Row<'_, '_>, at: At, log: &mut Log) -> Result<Option<Job>> {
    let (start, end, nodes) = (row.text(START), row.text(END), row.text(NODES));
    if is_unknown(start) {
        log.leave_out(Reason::NeverStarted);
        return Ok(None);
    }
    let times = [moment(start), moment(end)];
    if times[0].is_none() || times[1].is_none() && !is_unknown(end) {
        let text = if times[0].is_none() { start } else { end };
        no_time(text, at, log)?;
        return Ok(None);
    }
    let [Some(from), to] = log.seconds(at, times)? else {
        return Ok(None);
    };
    let Some(nodes) = whole(nodes).filter(|nodes| *nodes > 0) else {
        let found = format_args!("{nodes:?} is not a valid NODES_USED");
        log.fault(Reason::NoNodes, at, found)?;
        return Ok(None);
    };
    Ok(Some(Job {
        start: from,
        end: to,
        nodes,
        location: row.text(LOCATION).to_owned(),
        at,
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
