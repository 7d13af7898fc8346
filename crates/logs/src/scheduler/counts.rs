//! Counts the contents and the faults of a log.

use std::collections::BTreeMap;
use std::fmt;

use gleaner_domain::error::{Error, Fault, Faults, Result};
use gleaner_domain::words::counted;
use gleaner_io::input::{Line, Place, Unit};

/// The reason why a line or a part of it was not used, or is unusual. [`Reason::Unreadable`] and all later variants are
/// faults. The earlier variants are normal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The job never ran, or has not run yet.
    NeverStarted,
    /// The line is a step of a job. The nodes of the step are included in the job's own line.
    Step,
    /// The same line was read before, for example because the files of two months overlap.
    Duplicate,
    /// The job also ran on nodes that are not in the user's list of nodes.
    OtherNodes,
    /// The type of the record does not show which nodes are held.
    OtherRecord,
    /// The event concerns the whole cluster, or leaves the node usable.
    NoOutage,
    /// The job requests no GPU.
    NoGpu,
    /// The job ran for less than a second.
    NoTime,
    /// The job was still running at the end of the trace, so its duration is unknown.
    StillRunning,
    /// The job's profile contains something other than delays, so the job's duration is unknown.
    OtherProfile,
    /// The job's partition or state was not selected.
    NotSelected,
    /// The line cannot be parsed.
    Unreadable,
    /// At least part of the job's list of nodes cannot be parsed. The job is used, and the nodes in that part are
    /// unknown.
    DamagedList,
    /// The end is before the start.
    EndsBeforeStart,
    /// The job has ended, but the log has no end time.
    NoEnd,
    /// The job ran, or the reservation began, but the log does not name its nodes.
    NoNodes,
    /// The job or reservation starts again although it has not ended.
    StartsAgain,
    /// The record names a node beyond the first `MAX_NODES` distinct nodes of the log. That node is ignored.
    UnknownNodes,
    /// The job's list has more nodes than the stated number. The list is used.
    CountDiffers,
    /// The job's list has fewer nodes than the stated number. The missing nodes are unknown.
    ListShort,
    /// The job uses more nodes than the machine has.
    TooManyNodes,
    /// The job used more nodes than were free.
    NotEnoughFree,
    /// A run of the job lacks a start or an end.
    NoRun,
    /// The job starts before it is submitted.
    StartsEarly,
    /// The stated duration differs from the time between start and end. The time between start and end is used.
    DurationDiffers,
    /// An earlier job or profile has the same id.
    Repeated,
    /// The job uses more GPUs of a node than the node has.
    TooManyOfNode,
    /// The job requests more GPUs than its virtual cluster has.
    TooManyGpus,
    /// The job belongs to a virtual cluster for which no machine is known.
    UnknownCluster,
    /// The tasks of the job run on GPUs of several types.
    SeveralTypes,
    /// The profile of the job is not in the workload, or occurs twice.
    NoProfile,
    /// The throughput for this job type and number of GPUs was not measured, or is 0.
    NoThroughput,
    /// The job has no task that states its resources.
    NoTask,
    /// The table of jobs lacks a job that has tasks.
    NoJob,
    /// The poll, or the row of a trace, is out of chronological order.
    Earlier,
    /// The row adds a node that is present, or removes one that is absent.
    NoChange,
    /// The poll lists a node more than once.
    ListedTwice,
    /// The word for the state of the nodes is unknown.
    UnknownState,
    /// A time or a number is implausible for a real job.
    Absurd,
    /// A local time did not occur, because the clock was put forward over it.
    NeverOccurs,
    /// A local time occurs twice, and either occurrence could be meant.
    OccursTwice,
    /// The job started on a node on which another job was running.
    Overlap,
}

impl Reason {
    /// Whether this reason is a fault, that is, whether the log contradicts itself or cannot be
    /// parsed. Other reasons are normal.
    pub fn is_fault(self) -> bool {
        self >= Reason::Unreadable
    }

    /// Whether this reason stops a strict reader. Faults do, except shared nodes and ambiguous local times, which can
    /// occur in a log without contradictions.
    fn stops_strict(self) -> bool {
        self.is_fault() && !matches!(self, Reason::Overlap | Reason::OccursTwice)
    }

    /// The words that follow a number of lines in messages.
    pub fn words(self) -> &'static str {
        match self {
            Reason::NeverStarted => "that never started",
            Reason::Step => "of a job's steps (leave them out with -X)",
            Reason::Duplicate => "that repeat an earlier line",
            Reason::OtherNodes => {
                "with nodes that are missing from the list of nodes (the others are used)"
            }
            Reason::OtherRecord => "of other kinds of records",
            Reason::NoOutage => "without an outage of a node",
            Reason::NoGpu => "without GPUs",
            Reason::NoTime => "that ran for less than a second",
            Reason::StillRunning => "still running at the end of the trace",
            Reason::OtherProfile => "with a profile other than delays (the duration is unknown)",
            Reason::NotSelected => "of other partitions or states (their nodes count as idle)",
            Reason::Unreadable => "that cannot be read",
            Reason::DamagedList => {
                "with a list of nodes that cannot be read (the nodes missing from it are unknown)"
            }
            Reason::EndsBeforeStart => "with an end before the start",
            Reason::NoEnd => "that ended without an end time",
            Reason::NoNodes => "that ran on unknown nodes",
            Reason::StartsAgain => "that started again without an end (they end at the new start)",
            Reason::UnknownNodes => {
                "with nodes beyond the maximum number of nodes (the others are used)"
            }
            Reason::CountDiffers => "that list more nodes than they used (the list is used)",
            Reason::ListShort => {
                "that list fewer nodes than they used (the other nodes are unknown)"
            }
            Reason::TooManyNodes => "with more nodes than the machine has (all its nodes are used)",
            Reason::NotEnoughFree => "that used more nodes than were free when they started",
            Reason::NoRun => {
                "with an attempt that lacks a start or an end (the job's other attempts are used)"
            }
            Reason::StartsEarly => "with a start before the submission (both are used)",
            Reason::DurationDiffers => {
                "with a duration that differs from the time between start and end (that time is used)"
            }
            Reason::Repeated => "with a repeated id (the first is used)",
            Reason::TooManyOfNode => {
                "that use more GPUs of a machine than the machine has (used as stated)"
            }
            Reason::TooManyGpus => "with more GPUs than the virtual cluster has (left out)",
            Reason::UnknownCluster => "of a virtual cluster without machines (left out)",
            Reason::SeveralTypes => "with GPUs of several types (the first type is used)",
            Reason::NoProfile => "with a profile that the workload lacks",
            Reason::NoThroughput => {
                "without a throughput for their type and number of GPUs (left out)"
            }
            Reason::NoTask => "without a task",
            Reason::NoJob => "with tasks but no row in the table of jobs",
            Reason::Earlier => "not in chronological order (left out)",
            Reason::NoChange => {
                "that add a node that is present, or remove one that is absent (left out)"
            }
            Reason::ListedTwice => {
                "with nodes that the same poll already listed (the first state is used)"
            }
            Reason::UnknownState => "with an unknown state (the nodes count as busy)",
            Reason::Absurd => "with implausible times or numbers (left out)",
            Reason::NeverOccurs => {
                "at a local time that did not occur, because the clock was put forward (the offset before \
                 the change is used)"
            }
            Reason::OccursTwice => {
                "at a local time that occurs twice, because the clock was put back (the earlier \
                 time is used)"
            }
            Reason::Overlap => {
                "on a node that was already running a job (usual where jobs share nodes)"
            }
        }
    }
}

/// The number of lines to which a reason applies, and the first example.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// Number of lines or parts of lines.
    pub count: u64,
    /// Place and description of the first occurrence; empty for reasons without examples.
    pub example: String,
}

/// Counts of the contents and faults of a log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogCounts {
    /// Number of files read.
    pub files: u64,
    /// Number of non-empty lines read. For JSON documents, the number of jobs or profiles.
    pub lines: u64,
    /// The unit of [`LogCounts::lines`].
    pub unit: Unit,
    /// Number of jobs that held nodes.
    pub jobs: u64,
    /// Number of these jobs that were still running at the end of the log.
    pub running: u64,
    /// Number of outages and reservations that held nodes.
    pub outages: u64,
    /// Lines that were left out or unusual, by reason.
    pub found: BTreeMap<Reason, Found>,
    /// Whether reading fails at the first fault.
    pub strict: bool,
}

impl LogCounts {
    /// Counts a line, and returns whether it is complete. A line that is too long counts as a
    /// fault.
    pub fn take(&mut self, line: &Line<'_>) -> Result<bool> {
        self.lines += 1;
        if line.cut {
            self.fault(Reason::Unreadable, line.place, "a line of more than 16 MiB")?;
        }
        Ok(!line.cut)
    }

    /// Counts a line that was left out for a reason that is not a fault.
    pub fn leave_out(&mut self, reason: Reason) {
        self.found.entry(reason).or_default().count += 1;
    }

    /// Counts a fault. If the reason stops a strict reader and `strict` is set, returns the fault as an error instead.
    pub fn fault(
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
                .remedy("leave out --strict to count such lines and continue")
                .into());
        }
        self.note(reason, 1, || format!("{place}: {found}"));
        Ok(())
    }

    /// Counts `count` more lines under a reason. `example` is called only if the reason had no lines before.
    pub fn note(&mut self, reason: Reason, count: u64, example: impl FnOnce() -> String) {
        let found = self.found.entry(reason).or_default();
        if found.count == 0 {
            found.example = example();
        }
        found.count += count;
    }

    /// The error for logs in which nothing is usable. It lists all reasons with examples.
    pub fn nothing_left(&self, expected: &str, file: &std::path::Path) -> Error {
        let read = counted(self.lines, &self.unit.to_string());
        let first = Fault::of(file, format!("{read}, none usable"), expected);
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

impl LogCounts {
    /// Writes, on one line, how many lines and files were read.
    pub(crate) fn write_read(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (lines, files) = (
            counted(self.lines, &self.unit.to_string()),
            counted(self.files, "file"),
        );
        write!(f, "read      {lines} of {files}")
    }

    /// Writes the counts of lines that were left out or faulty: one reason per line, each after a line break.
    pub(crate) fn write_found(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (reason, found) in &self.found {
            let kind = if reason.is_fault() {
                "problem "
            } else {
                "left out"
            };
            write!(f, "\n{kind}  {} {}", found.count, reason.words())?;
            if !found.example.is_empty() {
                write!(f, "; first {}", found.example)?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for LogCounts {
    /// Writes how many lines were read, how many jobs, outages and reservations were used, and how many lines were left
    /// out or faulty.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_read(f)?;
        write!(f, "\nused      {}", counted(self.jobs, "job"))?;
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
        self.write_found(f)
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
            text.contains(
                "problem   2 that ended without an end time; first log, line 7: COMPLETED"
            ),
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
