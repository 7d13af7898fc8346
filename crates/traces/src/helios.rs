//! Reads the Helios log: a table of jobs with their virtual clusters and GPUs.

use gleaner_domain::error::Result;
use gleaner_io::delimited::{Layout, LogTable, Row};
use gleaner_io::input::Line;
use gleaner_logs::scheduler::{
    At, Collector, Job, LineReader, Moment, Nodes, Reason, Record, Run, is_unknown, moment, whole,
};

/// The Helios log and its source, for messages.
pub const WHERE: &str = "a cluster_log.csv from https://github.com/S-Lab-System-Group/HeliosData";

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
    required: &[ID, VC, GPUS, SUBMIT, START, END],
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

/// Reads the table of jobs.
pub(super) struct HeliosReader(LogTable);

impl Default for HeliosReader {
    fn default() -> Self {
        HeliosReader(LogTable::new(LAYOUT, None))
    }
}

impl LineReader for HeliosReader {
    fn begin(&mut self) {
        self.0.begin();
    }

    fn line(&mut self, line: &Line<'_>, collector: &mut Collector<'_>) -> Result<()> {
        match collector.row(&mut self.0, line)? {
            Some(row) => job(&row, collector.log.at(line.place), collector),
            None => Ok(()),
        }
    }
}

/// Reports the job of a row.
fn job(row: &Row<'_, '_>, at: At, collector: &mut Collector<'_>) -> Result<()> {
    let log = &mut collector.log;
    if is_unknown(row.text(START)) {
        log.leave_out(Reason::NeverStarted);
        return Ok(());
    }
    if is_unknown(row.text(END)) {
        log.leave_out(Reason::StillRunning);
        return Ok(());
    }
    let parsed = match parse(row) {
        Ok(parsed) => parsed,
        Err(found) => return log.fault(Reason::Unreadable, at, found),
    };
    let run = Run {
        start: Some(parsed.start),
        end: Some(parsed.end),
        nodes: Nodes::Unknown,
    };
    let job = Job {
        id: row.text(ID),
        user: row.text(USER),
        vc: row.text(VC),
        state: row.text(STATE),
        gpus: u64::from(parsed.gpus),
        cpus: parsed.cpus,
        submit: Some(parsed.submit),
        runs: &[run],
        duration: row.cell(DURATION).and_then(|text| text.parse().ok()),
        ..Job::default()
    };
    collector.take(at, &Record::Job(job))
}

/// The parsed numbers and times of a row.
struct Parsed {
    gpus: u32,
    cpus: f64,
    submit: Moment,
    start: Moment,
    end: Moment,
}

/// Parses a row. The error describes the fault.
fn parse(row: &Row<'_, '_>) -> Result<Parsed, String> {
    for (column, name) in [(ID, "job_id"), (VC, "vc")] {
        if row.text(column).is_empty() {
            return Err(format!("no {name}"));
        }
    }
    let time = |column: usize| {
        let text = row.text(column);
        let time = moment(text);
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
