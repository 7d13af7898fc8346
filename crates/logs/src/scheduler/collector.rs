//! The collector, which passes the records of all readers to a sink, and the interface that sinks implement.

use std::fmt;
use std::path::{Path, PathBuf};

use super::clock::SchedulerClock;
use super::counts::{LogCounts, Reason};
use super::record::{Moment, Nodes, Record};
use super::select::Selection;
use super::short::Lack;
use crate::occupancy::NodeRange;
use gleaner_domain::Stamp;
use gleaner_domain::error::Result;
use gleaner_io::delimited::{LogTable, Row};
use gleaner_io::input::Place;
use gleaner_io::input::{Line, Unit};

/// Passes the records of a log to a sink.
pub struct Collector<'s> {
    /// The clock, the counts and the notes of the log.
    pub log: Log,
    sink: &'s mut dyn Sink,
}

/// Turns the records of a log into a log of idle nodes or a table of jobs.
pub trait Sink {
    /// Receives a record. Counts its faults, and leaves out the parts that the faults make unusable.
    ///
    /// # Errors
    /// There is a fault and the reader is strict, or a temporary file cannot be written.
    fn take(&mut self, log: &mut Log, at: At, record: &Record<'_>) -> Result<()>;

    /// Looks up the nodes of a job for a reader that stores the job until it ends. Also returns the nodes that the
    /// job's list lacks, and counts the faults in the list. The default implementation, for sinks that ignore nodes,
    /// returns no nodes.
    ///
    /// # Errors
    /// There is a fault and the reader is strict.
    fn look_up(&mut self, _: &mut Log, _: At, _: &Nodes<'_>) -> Result<LookedUp> {
        Ok(LookedUp::default())
    }

    /// Records the time at which a line was written, in seconds since 1970. This method is called only for logs whose
    /// lines are written as events happen.
    fn written(&mut self, _: i64) {}
}

/// The nodes of a job that a reader stores until the job ends.
#[derive(Debug, Default)]
pub struct LookedUp {
    pub nodes: Vec<NodeRange>,
    /// The nodes that the job's list lacks; `None` if the list is complete.
    pub lack: Option<Lack>,
}

/// Data about a log as a whole.
pub struct Log {
    /// The clock that converts the times of the log.
    pub clock: SchedulerClock,
    /// Counts of the lines and jobs, with the faults by reason.
    pub counts: LogCounts,
    /// The criteria by which jobs are selected.
    pub selection: Selection,
    /// Number of nodes of the machine, for logs whose jobs state only a node count; `None` if unknown.
    pub node_count: Option<u32>,
    /// Number of GPUs of the only virtual cluster, if the log states it.
    pub gpu_count: Option<u64>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// The files read so far. [`At`] refers to them by index.
    pub files: Vec<PathBuf>,
}

/// A place in a file. It stays valid after the file has been read.
#[derive(Debug, Clone, Copy)]
pub struct At {
    /// Index of the file in the order of reading.
    file: u32,
    unit: Unit,
    line: u64,
}

impl At {
    /// The number of the file, starting at 1, and the number of the line in that file.
    pub fn numbers(self) -> (u64, u64) {
        (u64::from(self.file) + 1, self.line)
    }
}

impl Log {
    /// The data of a log before its first file is read. If `strict` is set, the first fault is an error.
    pub fn new(clock: SchedulerClock, strict: bool) -> Self {
        Log {
            clock,
            counts: LogCounts {
                strict,
                ..LogCounts::default()
            },
            selection: Selection::default(),
            node_count: None,
            gpu_count: None,
            notes: Vec::new(),
            files: Vec::new(),
        }
    }

    /// Begins the next file.
    pub fn begin(&mut self, file: &Path) {
        self.counts.files += 1;
        self.files.push(file.to_owned());
    }

    /// The first file, for messages about the whole log.
    pub fn first_file(&self) -> &Path {
        self.files.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// Converts a place in the current file to a form that remains valid after the file has been read.
    pub fn at(&self, place: Place<'_>) -> At {
        At {
            file: self.files.len().saturating_sub(1) as u32,
            unit: place.unit,
            line: place.line,
        }
    }

    /// Converts times that are in chronological order to seconds since 1970.
    ///
    /// # Errors
    /// Same as for [`SchedulerClock::in_order`].
    pub fn seconds<const N: usize>(
        &mut self,
        at: At,
        moments: [Option<Moment>; N],
    ) -> Result<[Option<i64>; N]> {
        let place = place(&self.files, at);
        self.clock.in_order(moments, place, &mut self.counts)
    }

    /// Counts a fault.
    ///
    /// # Errors
    /// The reader is strict, and the reason is one that stops it. The error contains the fault.
    pub fn fault(&mut self, reason: Reason, at: At, found: impl fmt::Display) -> Result<()> {
        self.counts.fault(reason, place(&self.files, at), found)
    }

    /// Counts something unusual that is not a fault. `found` describes it. Only the first
    /// description is kept.
    pub fn note(&mut self, reason: Reason, at: At, found: impl fmt::Display) {
        let place = place(&self.files, at);
        self.counts.note(reason, 1, || format!("{place}: {found}"));
    }

    /// Whether a job is used, according to `is_selected`, which receives the selection. Counts a job
    /// that is not used.
    pub fn selects(&mut self, is_selected: impl FnOnce(&Selection) -> bool) -> bool {
        let is_used = is_selected(&self.selection);
        if !is_used {
            self.leave_out(Reason::NotSelected);
        }
        is_used
    }

    /// Counts a part of the log that was left out for a reason that is not a fault.
    pub fn leave_out(&mut self, reason: Reason) {
        self.counts.leave_out(reason);
    }
}

fn place(files: &[PathBuf], at: At) -> Place<'_> {
    let file = files.get(at.file as usize);
    Place {
        file: file.map_or(Path::new(""), PathBuf::as_path),
        unit: at.unit,
        line: at.line,
    }
}

impl<'s> Collector<'s> {
    /// A collector that passes records to `sink`.
    pub fn new(log: Log, sink: &'s mut dyn Sink) -> Self {
        Collector { log, sink }
    }

    /// Passes a record to the sink.
    ///
    /// # Errors
    /// Same as for [`Sink::take`].
    pub fn take(&mut self, at: At, record: &Record<'_>) -> Result<()> {
        self.sink.take(&mut self.log, at, record)
    }

    /// Looks up nodes with the sink's [`Sink::look_up`].
    pub fn look_up(&mut self, at: At, nodes: &Nodes<'_>) -> Result<LookedUp> {
        self.sink.look_up(&mut self.log, at, nodes)
    }

    /// Records that a line was written at `second`, in seconds since 1970, when the log's clock showed `stamp`.
    pub fn written(&mut self, stamp: Stamp, second: i64) {
        self.log.clock.learn(stamp, second);
        self.sink.written(second);
    }

    /// Splits a line of a table into cells. Returns `None` for the header. If a line cannot be split,
    /// counts a fault and returns `None`.
    ///
    /// # Errors
    /// The header lacks columns, or there is a fault and the reader is strict.
    pub fn row<'t, 'l>(
        &mut self,
        table: &'t mut LogTable,
        line: &'l Line<'_>,
    ) -> Result<Option<Row<'t, 'l>>> {
        match table.row(line)? {
            None => Ok(None),
            Some(Ok(row)) => Ok(Some(row)),
            Some(Err(found)) => {
                let at = self.log.at(line.place);
                self.log.fault(Reason::Unreadable, at, found)?;
                Ok(None)
            }
        }
    }
}
