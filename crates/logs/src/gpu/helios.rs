//! Reads the log of Helios: a table of jobs with their virtual clusters and GPUs.

use super::TraceReader;
use super::collector::{Draft, JobCollector, RunTimes};
use crate::scheduler::{Reason, is_unknown, stamp, whole};
use gleaner_core::domain::Stamp;
use gleaner_core::error::Result;
use gleaner_io::delimited::{Layout, LogTable, Row};
use gleaner_io::input::{Input, Place};

/// Where users find the log, for messages.
pub const WHERE: &str = "a cluster_log.csv of https://github.com/S-Lab-System-Group/HeliosData";

const LAYOUT: Layout = Layout {
    columns: &[
        &["job_id"],
        &["vc"],
        &["gpu_num"],
        &["submit_time"],
        &["start_time"],
        &["end_time"],
        &["user"],
        &["cpu_num"],
        &["state"],
        &["duration"],
    ],
    required: 6,
    quoted: true,
    remedy: || format!("use {WHERE}"),
};
const ID: usize = 0;
const VC: usize = 1;
const GPUS: usize = 2;
const SUBMIT: usize = 3;
const START: usize = 4;
const END: usize = 5;
const USER: usize = 6;
const CPUS: usize = 7;
const STATE: usize = 8;
const DURATION: usize = 9;

/// Reads the table.
pub(super) struct HeliosReader;

impl TraceReader for HeliosReader {
    fn file(&mut self, input: &mut Input<'_>, collector: &mut JobCollector) -> Result<()> {
        let mut table = LogTable::new(LAYOUT, None);
        while let Some(line) = input.next_line()? {
            if !collector.log_counts.take(&line)? {
                continue;
            }
            match table.row(&line)? {
                None => {}
                Some(Ok(row)) => job(&row, line.place, collector)?,
                Some(Err(found)) => {
                    collector
                        .log_counts
                        .fault(Reason::Unreadable, line.place, found)?
                }
            }
        }
        Ok(())
    }
}

/// Adds the job of a row.
fn job(row: &Row<'_, '_>, place: Place<'_>, collector: &mut JobCollector) -> Result<()> {
    if is_unknown(row.text(START)) {
        collector.log_counts.leave_out(Reason::NeverStarted);
        return Ok(());
    }
    if is_unknown(row.text(END)) {
        collector.log_counts.leave_out(Reason::StillRunning);
        return Ok(());
    }
    match parse(row) {
        Ok(parsed) => take(row, &parsed, place, collector),
        Err(found) => collector.log_counts.fault(Reason::Unreadable, place, found),
    }
}

/// The cells that are numbers or times.
struct Parsed {
    gpus: u32,
    cpus: f64,
    submit: Stamp,
    start: Stamp,
    end: Stamp,
}

/// Parses a row. The error says what is wrong with it.
fn parse(row: &Row<'_, '_>) -> Result<Parsed, String> {
    for (column, name) in [(ID, "job_id"), (VC, "vc")] {
        if row.text(column).is_empty() {
            return Err(format!("no {name}"));
        }
    }
    let time = |column: usize| {
        let text = row.text(column);
        let time = stamp(text);
        time.ok_or_else(|| format!("{text:?} is not a time such as 2020-06-09 18:41:01"))
    };
    let gpus = whole(row.text(GPUS));
    let cpus = row.cell(CPUS).filter(|text| !text.is_empty());
    let cpus = cpus.map_or(Some(0.0), |text| text.parse().ok());
    Ok(Parsed {
        gpus: gpus.ok_or_else(|| format!("{:?} is not a valid gpu_num", row.text(GPUS)))?,
        cpus: cpus
            .filter(|cpus| (0.0..=1e9).contains(cpus))
            .ok_or_else(|| format!("{:?} is not a valid cpu_num", row.text(CPUS)))?,
        submit: time(SUBMIT)?,
        start: time(START)?,
        end: time(END)?,
    })
}

/// Adds a parsed job. If the duration in the row differs from the time between start and end, that
/// is counted.
fn take(
    row: &Row<'_, '_>,
    parsed: &Parsed,
    place: Place<'_>,
    collector: &mut JobCollector,
) -> Result<()> {
    let times = [parsed.submit, parsed.start, parsed.end].map(Some);
    let [Some(submit), Some(start), Some(end)] = collector.seconds(place, times)? else {
        return Ok(());
    };
    let told: Option<f64> = row.cell(DURATION).and_then(|text| text.parse().ok());
    // The duration may differ by a second because of rounding.
    if let Some(told) =
        told.filter(|told| end >= start && (told - (end - start) as f64).abs() > 1.0)
    {
        let found = format_args!(
            "a duration of {told}, and {} from start to end",
            end - start
        );
        collector
            .log_counts
            .fault(Reason::DurationDiffers, place, found)?;
    }
    let draft = Draft {
        id: row.text(ID),
        user: row.text(USER),
        vc: row.text(VC),
        state: row.text(STATE),
        gpus: u64::from(parsed.gpus),
        cpus: parsed.cpus,
        submit,
        runs: RunTimes::At(&[(start, end)]),
    };
    let at = collector.at(place);
    collector.take(&draft, at)
}
