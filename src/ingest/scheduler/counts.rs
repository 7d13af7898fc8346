//! What a log held, and what was wrong with it.

use std::collections::BTreeMap;
use std::fmt;

use crate::error::{Error, Fault, Faults, Result};
use crate::ingest::input::{Line, Place, Unit};
use crate::words::counted;

/// Why a line, or a part of it, was not used, or what was odd about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The job never ran, or not yet.
    NeverStarted,
    /// A step of a job, whose nodes are the job's.
    Step,
    /// A record of another kind than those that say what holds nodes.
    OtherRecord,
    /// An event of the whole cluster, or one that leaves the node usable.
    NoOutage,
    /// The job asks for no GPU.
    NoGpu,
    /// The job ran for less than a second.
    NoTime,
    /// The job still ran at the trace's end, so that its duration is unknown.
    StillRunning,
    /// The job's profile is not made of delays, so that its duration is unknown.
    OtherProfile,
    /// The line cannot be read.
    Unreadable,
    /// The end is before the start.
    EndsBeforeStart,
    /// It is over, but its end is unknown.
    NoEnd,
    /// It ran, but its nodes are unknown.
    NoNodes,
    /// It starts again without having ended.
    StartsAgain,
    /// It names nodes that the machine lacks.
    UnknownNodes,
    /// The count of nodes is not that of the list; the list is used.
    CountDiffers,
    /// It uses more nodes than the machine has.
    TooManyNodes,
    /// Fewer nodes were free than it used.
    NotEnoughFree,
    /// A run of the job has no start or no end.
    NoRun,
    /// It starts before it is submitted.
    StartsEarly,
    /// The duration is not the time from start to end, which is used.
    DurationDiffers,
    /// An earlier one has the same id.
    Repeated,
    /// It uses more GPUs of a node than that has.
    TooManyOfNode,
    /// It asks for more GPUs than its virtual cluster has.
    TooManyGpus,
    /// It belongs to a virtual cluster of which no machine is known.
    UnknownCluster,
    /// Its tasks are on GPUs of several types.
    SeveralTypes,
    /// Its profile is not in the workload, or is there twice.
    NoProfile,
    /// Nobody measured how fast a job of its kind is.
    NoThroughput,
    /// A job has no task that says what it asks for.
    NoTask,
    /// Tasks are of a job that is nowhere else.
    NoJob,
    /// A time or a number no real job has.
    Absurd,
    /// It is at a local time that did not occur, as the clock was put forward over it.
    NeverOccurs,
    /// It is at a local time that occurs twice, and both could be meant.
    OccursTwice,
    /// It started on a node on which another was running.
    Overlap,
}

impl Reason {
    /// Whether the log contradicts itself or cannot be read; else such lines are usual.
    pub fn is_fault(self) -> bool {
        self >= Reason::Unreadable
    }

    /// Whether the log contradicts itself or cannot be read. That nodes are shared, or that
    /// a clock was put back, is no contradiction.
    fn stops_strict(self) -> bool {
        self.is_fault() && !matches!(self, Reason::Overlap | Reason::OccursTwice)
    }

    /// What it says of a number of lines.
    pub fn words(self) -> &'static str {
        match self {
            Reason::NeverStarted => "that never started",
            Reason::Step => "of a job's steps (leave them out with -X)",
            Reason::OtherRecord => "of other kinds of records",
            Reason::NoOutage => "without an outage of a node",
            Reason::NoGpu => "without GPUs",
            Reason::NoTime => "that ran for less than a second",
            Reason::StillRunning => "that still ran at the trace's end",
            Reason::OtherProfile => "with a profile other than delays, and so of unknown duration",
            Reason::Unreadable => "that cannot be read",
            Reason::EndsBeforeStart => "with an end before the start",
            Reason::NoEnd => "over without an end",
            Reason::NoNodes => "that ran on unknown nodes",
            Reason::StartsAgain => "that started again without an end (which is then)",
            Reason::UnknownNodes => "with nodes that the machine lacks (the others are used)",
            Reason::CountDiffers => "with another count of nodes than in the list (which is used)",
            Reason::TooManyNodes => "with more nodes than the machine has (all of them are used)",
            Reason::NotEnoughFree => "with more nodes than were free (those are used)",
            Reason::NoRun => "with an attempt without a start or an end (the others are used)",
            Reason::StartsEarly => "with a start before the submission (both are used)",
            Reason::DurationDiffers => {
                "with a duration other than from start to end (which is used)"
            }
            Reason::Repeated => "with the id of an earlier one (which is used)",
            Reason::TooManyOfNode => {
                "with more GPUs of a machine than it has (all of them are used)"
            }
            Reason::TooManyGpus => "with more GPUs than the virtual cluster has (left out)",
            Reason::UnknownCluster => "of a virtual cluster without machines (left out)",
            Reason::SeveralTypes => "with GPUs of several types (the first counts)",
            Reason::NoProfile => "with a profile that the workload lacks",
            Reason::NoThroughput => "of a kind without a throughput (left out)",
            Reason::NoTask => "without a task",
            Reason::NoJob => "with tasks and no row in the table of jobs",
            Reason::Absurd => "with times or numbers that no job has (left out)",
            Reason::NeverOccurs => {
                "at a local time that did not occur, as the clock was put forward (told with \
                 the offset from before)"
            }
            Reason::OccursTwice => {
                "at a local time that occurs twice, as the clock was put back (the earlier is \
                 used)"
            }
            Reason::Overlap => {
                "on a node that was running a job already (usual where jobs share nodes)"
            }
        }
    }
}

/// How often something was found, and where first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// How often.
    pub count: u64,
    /// The first one.
    pub example: String,
}

/// Counts of what a log held.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogCounts {
    /// Files read.
    pub files: u64,
    /// Lines read that are not empty, or what else a file is made of.
    pub lines: u64,
    /// What these are.
    pub unit: Unit,
    /// Jobs that held nodes.
    pub jobs: u64,
    /// Of them, those that still run at the log's end.
    pub running: u64,
    /// Outages and reservations that held nodes.
    pub outages: u64,
    /// What was left out or odd.
    pub found: BTreeMap<Reason, Found>,
    /// Whether a fault is an error.
    pub(in crate::ingest) strict: bool,
}

impl LogCounts {
    /// Counts a line, and says whether it is whole; that it is too long is counted.
    pub(in crate::ingest) fn take(&mut self, line: &Line<'_>) -> Result<bool> {
        self.lines += 1;
        if line.cut {
            self.fault(Reason::Unreadable, line.place, "a line of more than 16 MiB")?;
        }
        Ok(!line.cut)
    }

    /// Counts a line that was left out, as is usual.
    pub(in crate::ingest) fn leave_out(&mut self, reason: Reason) {
        self.found.entry(reason).or_default().count += 1;
    }

    /// Counts a fault.
    pub(in crate::ingest) fn fault(
        &mut self,
        reason: Reason,
        place: Place<'_>,
        found: impl fmt::Display,
    ) -> Result<()> {
        if self.strict && reason.stops_strict() {
            let fault = Fault::of(
                place.file,
                found.to_string(),
                "a log without contradictions",
            );
            let fault = fault.at(place.within());
            return Err(fault
                .remedy("leave --strict away to count such lines and go on")
                .into());
        }
        self.note(reason, 1, || format!("{place}: {found}"));
        Ok(())
    }

    /// Counts something found `count` times, with its first example.
    pub(in crate::ingest) fn note(
        &mut self,
        reason: Reason,
        count: u64,
        example: impl FnOnce() -> String,
    ) {
        let found = self.found.entry(reason).or_default();
        if found.count == 0 {
            found.example = example();
        }
        found.count += count;
    }

    /// The faults found, as an error for a log of which nothing remains.
    pub(in crate::ingest) fn nothing_left(&self, expected: &str, file: &std::path::Path) -> Error {
        let read = counted(self.lines, &self.unit.to_string());
        let first = Fault::of(file, format!("{read}, none of use"), expected);
        let mut faults = Faults(vec![first]);
        for (reason, found) in self.found.iter().filter(|(_, found)| found.count > 0) {
            let example = match found.example.as_str() {
                "" => String::new(),
                example => format!(", such as {example}"),
            };
            let found = format!("{} {}{example}", found.count, reason.words());
            faults.push(Fault::of(file, found, expected));
        }
        Error::Data(faults)
    }
}

impl fmt::Display for LogCounts {
    /// What was read, used, left out and odd, a line each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (lines, files) = (
            counted(self.lines, &self.unit.to_string()),
            counted(self.files, "file"),
        );
        writeln!(f, "read      {lines} of {files}")?;
        write!(f, "used      {}", counted(self.jobs, "job"))?;
        if self.running > 0 {
            write!(f, ", {} of them without an end", self.running)?;
        }
        if self.outages > 0 {
            let outages = match self.outages {
                1 => "1 outage or reservation".to_owned(),
                more => format!("{more} outages or reservations"),
            };
            write!(f, "; {outages}")?;
        }
        for (reason, found) in &self.found {
            match reason.is_fault() {
                false => write!(f, "\nleft out  {} {}", found.count, reason.words())?,
                true => {
                    write!(f, "\nodd       {} {}", found.count, reason.words())?;
                    write!(f, "; first {}", found.example)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_kind_is_counted_and_shown_with_its_first_example() {
        let mut log_counts = LogCounts::default();
        log_counts.leave_out(Reason::Step);
        for line in [7, 9] {
            let file = Path::new("log");
            let place = Place::line(file, line);
            log_counts.fault(Reason::NoEnd, place, "COMPLETED").unwrap();
        }
        let text = log_counts.to_string();
        assert!(text.contains("left out  1 of a job's steps"), "{text}");
        assert!(
            text.contains("odd       2 over without an end; first log, line 7: COMPLETED"),
            "{text}"
        );
    }

    #[test]
    fn a_strict_reader_stops_at_the_first_fault() {
        let mut log_counts = LogCounts {
            strict: true,
            ..LogCounts::default()
        };
        let place = Place::line(Path::new("log"), 7);
        log_counts
            .fault(Reason::Overlap, place, "two jobs")
            .unwrap();
        let message = log_counts
            .fault(Reason::NoEnd, place, "COMPLETED")
            .unwrap_err();
        assert!(message.to_string().contains("log, line 7: found COMPLETED"));
        assert_eq!(message.exit_code(), 3);
    }
}
