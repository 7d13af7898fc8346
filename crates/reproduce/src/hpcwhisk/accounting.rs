//! One day's pilots in Slurm's accounting: a table with the columns JobID, Start, End, JobName and State.

use std::path::Path;

use gleaner_domain::Local;
use gleaner_domain::error::{Fault, Result};
use gleaner_io::Loaded;
use gleaner_io::delimited::{Layout, LogTable, Row};
use gleaner_io::input::Input;
use gleaner_io::source::Source;

const START: usize = 0;
const END: usize = 1;
const NAME: usize = 2;
const STATE: usize = 3;

/// Offset of the table's local times from UTC, in seconds: Polish winter time.
const AHEAD: i64 = 3600;

const LAYOUT: Layout = Layout {
    columns: &[&["Start"], &["End"], &["JobName"], &["State"]],
    required: &[START, END, NAME, STATE],
    quoted: false,
    remedy: || "make the file with `sacct -P -X -o JobID,Start,End,JobName,State`".to_owned(),
};

/// The pilots of a day.
#[derive(Debug, Default)]
pub(super) struct Accounting(Vec<PilotJob>);

/// A pilot in the accounting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PilotJob {
    /// Start, in seconds since 1970.
    pub from: i64,
    /// End, in seconds since 1970.
    pub to: i64,
    /// Wall time in minutes, from the name of the pilot; `None` if the name contains no wall time.
    pub minutes: Option<u64>,
    /// Whether Slurm preempted the pilot.
    pub is_preempted: bool,
}

impl Accounting {
    /// Reads the table.
    ///
    /// # Errors
    /// The file cannot be read, lacks a column, or has an invalid start or end.
    pub fn read(path: &Path) -> Result<Loaded<Self>> {
        let source = Source::open(path)?;
        let mut table = LogTable::new(LAYOUT, None);
        let mut jobs = Vec::new();
        let mut input = Input::new(path, source.reader()?)?;
        while let Some(line) = input.next_line()? {
            let Some(row) = table.row(&line)? else {
                continue;
            };
            let job = row.and_then(|row| PilotJob::of(&row));
            let fault = |found| {
                let fault = Fault::of(path, found, "a job with its start and its end");
                fault.at(line.place.within())
            };
            jobs.push(job.map_err(fault)?);
        }
        Ok(source.loaded(Accounting(jobs)))
    }

    /// The number of pilots that satisfy `of`, and their total run time in seconds.
    pub fn sum(&self, of: &dyn Fn(&PilotJob) -> bool) -> (usize, u64) {
        let jobs = || self.0.iter().filter(|job| of(job));
        (jobs().count(), jobs().map(|job| job.seconds()).sum())
    }

    /// The number of pilots that were running at `time`, which is in seconds since 1970.
    pub fn running(&self, time: i64) -> u64 {
        let runs = |job: &&PilotJob| job.from <= time && time < job.to;
        self.0.iter().filter(runs).count() as u64
    }

    /// The total run time of pilots between `from` and `to`, in seconds. Both times are in seconds since 1970.
    pub fn seconds_between(&self, from: i64, to: i64) -> u64 {
        let within = |job: &PilotJob| job.to.min(to).saturating_sub(job.from.max(from)).max(0);
        self.0.iter().map(|job| within(job).unsigned_abs()).sum()
    }
}

impl PilotJob {
    /// Run time in seconds.
    fn seconds(&self) -> u64 {
        self.to.abs_diff(self.from)
    }

    /// Converts a row. The error says what is wrong with the row.
    fn of(row: &Row<'_, '_>) -> Result<Self, String> {
        let time = |column| {
            let text = row.text(column);
            let read = text.parse::<Local>();
            read.map_err(|_| format!("the time {text:?}"))
        };
        let (start, end) = (time(START)?, time(END)?);
        if end < start {
            return Err("an end before the start".to_owned());
        }
        Ok(PilotJob {
            from: start.second() - AHEAD,
            to: end.second() - AHEAD,
            minutes: minutes(row.text(NAME)),
            is_preempted: row.text(STATE) == "PREEMPTED",
        })
    }
}

/// The wall time in a pilot's name: 2 in `i_02:00`, and 90 in `i_1:30:00`.
fn minutes(name: &str) -> Option<u64> {
    // From the right: the seconds, which are skipped; the minutes; and the hours, if there are any.
    let mut parts = name.strip_prefix("i_")?.rsplit(':').skip(1);
    let minutes: u64 = parts.next()?.parse().ok()?;
    let hours: u64 = parts.next().unwrap_or("0").parse().ok()?;
    hours.checked_mul(60)?.checked_add(minutes)
}
