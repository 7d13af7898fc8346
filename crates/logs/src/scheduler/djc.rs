//! Reads ALCF's job records: a CSV table with a row for every job.

use super::clock::moment;
use super::cobalt::locations;
use super::collector::{At, Collector, Log};
use super::counts::Reason;
use super::reader::LineReader;
use super::select::no_column;
use super::settle::{Settler, TableJob};
use super::slurm::{is_unknown, no_time};
use gleaner_domain::error::Result;
use gleaner_io::delimited::{Layout, LogTable, Row};
use gleaner_io::input::{Line, Place};

/// The source of the records, as a phrase for messages.
pub const WHERE: &str = "a DIM_JOB_COMPOSITE file published at https://reports.alcf.anl.gov/data/";

const LAYOUT: Layout = Layout {
    columns: &[
        &["START_TIMESTAMP"],
        &["END_TIMESTAMP"],
        &["NODES_USED"],
        &["LOCATION"],
        &["QUEUED_TIMESTAMP"],
        &["QUEUE_NAME"],
    ],
    required: &[START, END, NODES],
    quoted: true,
    remedy: || format!("use {WHERE}"),
};
const START: usize = 0;
const END: usize = 1;
const NODES: usize = 2;
const LOCATION: usize = 3;
const SUBMIT: usize = 4;
const QUEUE: usize = 5;

/// Reads the table. Keeps the first jobs in memory until it can decide whether locations name nodes.
pub(super) struct DjcReader {
    table: LogTable,
    settler: Settler,
}

impl DjcReader {
    pub fn new() -> Self {
        DjcReader {
            table: LogTable::new(LAYOUT, None),
            settler: Settler::undecided(),
        }
    }

    /// Checks that the table has the column by which jobs are selected.
    fn check_columns(&self, log: &Log, place: Place<'_>) -> Result<()> {
        if log.selection.is_all() || self.table.has(QUEUE) {
            return Ok(());
        }
        Err(no_column("QUEUE_NAME", place).into())
    }
}

impl LineReader for DjcReader {
    fn begin(&mut self) {
        self.table.begin();
    }

    fn line(&mut self, line: &Line<'_>, collector: &mut Collector<'_>) -> Result<()> {
        let Some(row) = collector.row(&mut self.table, line)? else {
            return self.check_columns(&collector.log, line.place);
        };
        let queue = row.text(QUEUE);
        if !collector
            .log
            .selects(|selection| selection.takes_partition(queue))
        {
            return Ok(());
        }
        let at = collector.log.at(line.place);
        match job(&row, at, &mut collector.log)? {
            Some(job) => self.settler.take(at, &job, collector),
            None => Ok(()),
        }
    }

    fn finish(&mut self, collector: &mut Collector<'_>) -> Result<()> {
        self.settler.settle(collector)
    }
}

/// The job of a row. If the row cannot be used, counts it and returns `None`.
fn job<'r>(row: &'r Row<'_, '_>, at: At, log: &mut Log) -> Result<Option<TableJob<'r>>> {
    let (start, end) = (row.text(START), row.text(END));
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
    Ok(Some(TableJob {
        submit: row.cell(SUBMIT).and_then(moment),
        start: times[0],
        end: times[1],
        lists: locations(row.text(LOCATION)).collect(),
        count: whole(row.text(NODES)).filter(|count| *count > 0),
        ..TableJob::default()
    }))
}

/// Parses a whole number. A zero fraction, as in `512.0`, is accepted.
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
