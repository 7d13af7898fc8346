//! Outages of the whole machine, from the table that ALCF publishes alongside its job records.

use std::path::Path;

use super::clock::SchedulerClock;
use super::collector::{At, Collector, Log, LookedUp, Sink};
use super::counts::LogCounts;
use super::idle::IdleNodes;
use super::record::{Moment, Nodes, Record, Run};
use super::table::{ALCF_UTC, Header, Row, TakeRows, time};
use crate::occupancy::{Hold, NodeRange};
use gleaner_domain::error::{Error, Fault, Faults, Result};
use gleaner_io::input::Place;

/// The source of the table, as a phrase for messages.
const WHERE: &str = "a MACHINESTATUS file published at https://reports.alcf.anl.gov/data/";

const COLUMNS: [&str; 3] = ["START_TIMESTAMP", "END_TIMESTAMP", "IS_ALL_MACHINE_DOWN"];
const START: usize = 0;
const END: usize = 1;
const ALL_DOWN: usize = 2;

/// Maximum number of outages.
const MOST: usize = 1 << 20;

/// The outages of the whole machine.
#[derive(Debug, Default)]
pub(super) struct Outages {
    found: Vec<(Moment, Option<Moment>, u64)>,
}

impl TakeRows for Outages {
    fn columns(&mut self, header: &Header<'_>, _: &mut Log) -> Result<Vec<Option<usize>>> {
        let mut faults = Faults::default();
        let at = COLUMNS.map(|name| {
            let at = header.names.find(&[name]);
            if at.is_none() {
                let found = header.names.without_it();
                let fault = Fault::of(header.place.file, found, "a header with this column");
                faults.push(fault.field(name).remedy(format!("use {WHERE}")));
            }
            at
        });
        faults.into_result(at.to_vec())
    }

    fn row(&mut self, row: &Row<'_>, at: At, collector: &mut Collector<'_>) -> Result<()> {
        if !matches!(&*row.text(ALL_DOWN), "1" | "1.0" | "true" | "True" | "TRUE") {
            return Ok(());
        }
        let (_, line) = at.numbers();
        let read = |role| time(row.value(role), row.is_utc(role));
        let (Ok(Some(start)), Ok(end)) = (read(START), read(END)) else {
            let found = format!("{:?} to {:?}", row.text(START), row.text(END));
            let fault = Fault::of(
                collector.log.first_file(),
                found,
                "the start and end times of an outage",
            );
            return Err(fault.at(place(Path::new(""), line).within()).into());
        };
        if self.found.len() == MOST {
            let found = format!("more than {MOST} outages of the whole machine");
            return Err(Fault::of(collector.log.first_file(), found, "fewer").into());
        }
        self.found.push((start, end, line));
        Ok(())
    }
}

/// A place in the table of outages.
fn place(file: &Path, line: u64) -> Place<'_> {
    Place::line(file, line)
}

/// An outage of the whole machine, in seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Outage {
    start: i64,
    /// `None` if the table does not state the end: the machine is assumed to be down until the next job starts.
    end: Option<i64>,
    /// The first job start at or after the start of this outage and before the start of the next outage.
    next: Option<i64>,
}

/// Passes records to the sink for idle nodes, and finds the first start of a job after each outage.
pub(super) struct WithOutages<'s> {
    sink: &'s mut IdleNodes,
    /// The outages, in order of their starts.
    outages: Vec<Outage>,
    /// Whether any outage has no end.
    has_open: bool,
}

impl<'s> WithOutages<'s> {
    /// Converts the times of the outages in `file` with the clock of the log. If no zone is known, the times are
    /// treated as UTC, like all times in ALCF's tables.
    ///
    /// # Errors
    /// An outage ends before it starts.
    pub fn new(
        sink: &'s mut IdleNodes,
        outages: Outages,
        file: &Path,
        clock: &mut SchedulerClock,
    ) -> Result<Self> {
        if !outages.found.is_empty() {
            clock.assume_utc(ALCF_UTC);
        }
        let mut counts = LogCounts::default();
        let mut faults = Faults::default();
        let mut sorted = Vec::new();
        for (start, end, line) in outages.found {
            let place = place(file, line);
            let [Some(start), end] = clock.in_order([Some(start), end], place, &mut counts)? else {
                continue;
            };
            if let Some(end) = end.filter(|end| *end < start) {
                let found = format!("an end {} s before the start", start - end);
                let fault = Fault::of(file, found, "an end after the start");
                faults.push(fault.at(place.within()));
            }
            sorted.push(Outage {
                start,
                end,
                next: None,
            });
        }
        sorted.sort_unstable();
        faults.into_result(WithOutages {
            sink,
            has_open: sorted.iter().any(|outage| outage.end.is_none()),
            outages: sorted,
        })
    }

    /// Records that a job started at second `start`.
    fn starts(&mut self, start: i64) {
        let after = self.outages.partition_point(|outage| outage.start <= start);
        if let Some(outage) = self.outages[..after].last_mut() {
            outage.next = Some(outage.next.map_or(start, |next| next.min(start)));
        }
    }

    /// Closes the sink, and adds a hold on all nodes for each outage. Must be called after the last job.
    ///
    /// # Errors
    /// The log states only node counts and the size of the machine is unknown, or a temporary file cannot be written.
    pub fn finish(mut self, log: &mut Log) -> Result<()> {
        // All nodes are known now, because all jobs have been read.
        self.sink.close(log)?;
        // If no job starts before the next outage, the first job after that outage also ends this outage.
        let mut next = None;
        for outage in self.outages.iter_mut().rev() {
            next = outage.next.or(next);
            outage.next = next;
        }
        let all = [NodeRange {
            first: 0,
            count: self.sink.nodes.len() as u32,
        }];
        let nodes = match (self.sink.counted > 0, log.node_count) {
            (false, _) => Nodes::Found(&all, None),
            (true, Some(count)) => Nodes::Count(count),
            (true, None) if self.outages.is_empty() => return Ok(()),
            (true, None) => {
                return Err(Error::Usage(
                    "--outages needs the size of the machine, but the log only counts nodes: set the machine's number \
                     of nodes with --node-count"
                        .to_owned(),
                ));
            }
        };
        let at = log.at(Place::line(Path::new(""), 0));
        for outage in &self.outages {
            let run = Run {
                start: Some(Moment::Second(outage.start)),
                end: outage.end.or(outage.next).map(Moment::Second),
                nodes,
            };
            self.sink.take(log, at, &Record::Hold(Hold::Down, run))?;
        }
        Ok(())
    }
}

impl Sink for WithOutages<'_> {
    fn take(&mut self, log: &mut Log, at: At, record: &Record<'_>) -> Result<()> {
        if let Record::Job(job) = record
            && self.has_open
        {
            // The sink counts the faults in these times, so they are not counted here.
            let mut counts = LogCounts::default();
            for run in job.runs {
                let times = [job.submit, run.start];
                let place = place(Path::new(""), 0);
                if let [_, Some(start)] = log.clock.in_order(times, place, &mut counts)? {
                    self.starts(start);
                }
            }
        }
        self.sink.take(log, at, record)
    }

    fn look_up(&mut self, log: &mut Log, at: At, nodes: &Nodes<'_>) -> Result<LookedUp> {
        self.sink.look_up(log, at, nodes)
    }

    fn written(&mut self, second: i64) {
        self.sink.written(second);
    }
}
