//! What a log held, and what was wrong with it.

use std::collections::BTreeMap;
use std::fmt;

use super::input::Place;
use crate::error::{Error, Fault, Faults, Result};

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
    /// It started on a node on which another was running.
    Overlap,
}

impl Reason {
    /// Whether the log contradicts itself or cannot be read; else such lines are usual.
    pub fn is_fault(self) -> bool {
        self >= Reason::Unreadable
    }

    /// Whether it is a fault that even shared nodes do not explain.
    fn stops_strict(self) -> bool {
        self.is_fault() && self != Reason::Overlap
    }

    /// What it says of a number of lines.
    pub fn words(self) -> &'static str {
        match self {
            Reason::NeverStarted => "never started",
            Reason::Step => "job steps (leave them out with -X)",
            Reason::OtherRecord => "other records",
            Reason::NoOutage => "events without an outage of a node",
            Reason::Unreadable => "cannot be read",
            Reason::EndsBeforeStart => "end before they start",
            Reason::NoEnd => "are over without an end",
            Reason::NoNodes => "ran on unknown nodes",
            Reason::StartsAgain => "start again without an end (they end there)",
            Reason::UnknownNodes => "name nodes that the machine lacks (the others are used)",
            Reason::CountDiffers => "have another count of nodes than their list (which is used)",
            Reason::TooManyNodes => "use more nodes than the machine has (all of them are used)",
            Reason::NotEnoughFree => "use more nodes than were free (those are used)",
            Reason::Overlap => "starts on a node with a running job (usual where jobs share nodes)",
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
pub struct Tally {
    /// Files read.
    pub files: u64,
    /// Lines read that are not empty.
    pub lines: u64,
    /// Jobs that held nodes.
    pub jobs: u64,
    /// Of them, those that still run at the log's end.
    pub running: u64,
    /// Outages and reservations that held nodes.
    pub outages: u64,
    /// What was left out or odd.
    pub found: BTreeMap<Reason, Found>,
    /// Whether a fault is an error.
    pub(super) strict: bool,
}

impl Tally {
    /// Counts a line that was left out, as is usual.
    pub(super) fn leave_out(&mut self, reason: Reason) {
        self.found.entry(reason).or_default().count += 1;
    }

    /// Counts a fault.
    pub(super) fn fault(
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
            let fault = fault.at(format!("line {}", place.line));
            return Err(fault
                .remedy("leave --strict away to count such lines and go on")
                .into());
        }
        self.note(reason, 1, || format!("{place}: {found}"));
        Ok(())
    }

    /// Counts something found `count` times, with its first example.
    pub(super) fn note(&mut self, reason: Reason, count: u64, example: impl FnOnce() -> String) {
        let found = self.found.entry(reason).or_default();
        if found.count == 0 {
            found.example = example();
        }
        found.count += count;
    }

    /// The faults found, as an error for a log of which nothing remains.
    pub(super) fn nothing_left(&self, expected: &str, file: &std::path::Path) -> Error {
        let first = Fault::of(file, format!("{} lines, none of use", self.lines), expected);
        let mut faults = Faults(vec![first]);
        for (reason, found) in self.found.iter().filter(|(_, found)| found.count > 0) {
            let example = match found.example.as_str() {
                "" => String::new(),
                example => format!(", such as {example}"),
            };
            let found = format!("{} that {}{example}", found.count, reason.words());
            faults.push(Fault::of(file, found, expected));
        }
        Error::Data(faults)
    }
}

impl fmt::Display for Tally {
    /// What was read, used, left out and odd, a line each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = if self.files == 1 { "file" } else { "files" };
        writeln!(
            f,
            "read      {} lines of {} {files}",
            self.lines, self.files
        )?;
        write!(f, "used      {} jobs", self.jobs)?;
        if self.running > 0 {
            write!(f, ", {} of them without an end", self.running)?;
        }
        if self.outages > 0 {
            write!(f, "; {} outages or reservations", self.outages)?;
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
        let mut tally = Tally::default();
        tally.leave_out(Reason::Step);
        for line in [7, 9] {
            let file = Path::new("log");
            let place = Place { file, line };
            tally.fault(Reason::NoEnd, place, "COMPLETED").unwrap();
        }
        let text = tally.to_string();
        assert!(text.contains("left out  1 job steps"), "{text}");
        assert!(
            text.contains("odd       2 are over without an end; first log, line 7: COMPLETED"),
            "{text}"
        );
    }

    #[test]
    fn a_strict_reader_stops_at_the_first_fault() {
        let mut tally = Tally {
            strict: true,
            ..Tally::default()
        };
        let place = Place {
            file: Path::new("log"),
            line: 7,
        };
        tally.fault(Reason::Overlap, place, "two jobs").unwrap();
        let message = tally.fault(Reason::NoEnd, place, "COMPLETED").unwrap_err();
        assert!(message.to_string().contains("log, line 7: found COMPLETED"));
        assert_eq!(message.exit_code(), 3);
    }
}
