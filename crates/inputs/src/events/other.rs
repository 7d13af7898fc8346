//! Recognises files that are not event logs, but inputs of other commands.

use std::io::Read;

use gleaner_domain::error::{Fault, Result};
use gleaner_io::source::{Kind, Source};
use gleaner_logs::polls::is_poll_line;
use gleaner_logs::scheduler::{is_swf_line, record_kind};

/// Number of bytes that are inspected at the start of a file.
const HEAD: u64 = 1 << 16;

/// The kind of a file, and the command or option to use with such files. `FILE` represents the file's name.
type Known = (&'static str, &'static str);

const SLURM: Known = (
    "a table of Slurm jobs",
    "convert it to an event log with `gleaner ingest slurm FILE -o log.gev`",
);
const SLURM_EVENTS: Known = (
    "Slurm's node events",
    "pass them to `gleaner ingest slurm` with --events, together with the table of jobs",
);
const NODES: Known = (
    "a list of nodes",
    "pass it to `gleaner ingest` with --nodes, together with the scheduler's log",
);
const PBS: Known = (
    "accounting records",
    "convert them to an event log with `gleaner ingest pbs FILE -o log.gev`",
);
const COBALT: Known = (
    "Cobalt's accounting records",
    "convert them to an event log with `gleaner ingest cobalt FILE -o log.gev`",
);
const SWF: Known = (
    "a workload in the Standard Workload Format",
    "convert it to an event log with `gleaner ingest swf FILE -o log.gev`",
);
const POLLS: Known = (
    "polls of node states",
    "convert them to an event log with `gleaner ingest sinfo FILE -o log.gev`",
);
const DJC: Known = (
    "ALCF's job records",
    "convert them to an event log with `gleaner ingest djc FILE -o log.gev`",
);
const PHILLY: Known = (
    "Philly's job log",
    "convert it to an event log with `gleaner ingest philly FILE -o log.gev`",
);
const BATSIM: Known = (
    "a Batsim workload",
    "convert it to jobs for `gleaner simulate` with `gleaner ingest batsim FILE -o jobs.csv`",
);
const GAVEL: Known = (
    "a Gavel trace",
    "convert it to jobs for `gleaner simulate` with `gleaner ingest gavel FILE -o jobs.csv`",
);
const HELIOS: Known = (
    "Helios' job log",
    "convert it to jobs for `gleaner simulate` with `gleaner ingest helios FILE -o jobs.csv`",
);
const JOBS: Known = (
    "jobs of a GPU cluster",
    "`gleaner simulate --trace FILE --cluster vc_config.csv --policy fifo --idle-events log.csv` writes an event log \
     of the nodes that these jobs leave idle",
);

/// Refuses a text file that is recognised as something other than an event log. The message says
/// which command or option to use with the file.
///
/// # Errors
/// The file is recognised as the input of another command, or it cannot be read.
pub(super) fn refuse(source: &Source) -> Result<()> {
    if !matches!(source.kind(), Kind::Csv | Kind::Json | Kind::Toml) {
        return Ok(());
    }
    let mut head = Vec::new();
    let read = source.reader()?.take(HEAD).read_to_end(&mut head);
    read.map_err(|error| source.read_error(error))?;
    match known(&String::from_utf8_lossy(&head)) {
        None => Ok(()),
        Some((found, remedy)) => {
            let path = source.path().display().to_string();
            let expected = "an event log: which nodes are idle, by time";
            let fault: Fault = source.fault(found, expected);
            Err(fault.remedy(remedy.replace("FILE", &path)).into())
        }
    }
}

/// Recognises the content of a text file by its beginning; `None` if the content is unknown.
fn known(head: &str) -> Option<Known> {
    let mut lines = head.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next()?;
    if first.starts_with(';') || is_swf_line(first) {
        return Some(SWF);
    }
    if is_poll_line(first) {
        return Some(POLLS);
    }
    if first.starts_with("NodeName=") {
        return Some(NODES);
    }
    if record_kind(first).is_some() {
        return Some(if is_cobalt(head) { COBALT } else { PBS });
    }
    if first.starts_with(['{', '[']) {
        return of_json(head);
    }
    if matches!(first.split('\t').count(), 9 | 10) && !first.contains('|') {
        return Some(GAVEL);
    }
    of_header(first)
}

/// Whether accounting records are from Cobalt. Unlike PBS's records, Cobalt's records contain fractions of seconds, and
/// report when nodes go up or down.
fn is_cobalt(head: &str) -> bool {
    head.lines().any(|line| {
        let kind = record_kind(line.trim()).unwrap_or_default();
        let time = line.split_once(" start=").map_or("", |(_, rest)| rest);
        let time = time.split_whitespace().next().unwrap_or_default();
        matches!(kind, "NU" | "ND" | "TS" | "TE") || time.contains('.')
    })
}

/// Recognises a JSON document by the names of the members near its beginning.
fn of_json(head: &str) -> Option<Known> {
    let has = |member: &str| head.contains(&format!("\"{member}\""));
    if head.trim_start().starts_with('[') && has("attempts") {
        return Some(PHILLY);
    }
    (has("nb_res") || has("profiles") && has("jobs")).then_some(BATSIM)
}

/// Recognises a table by its header.
fn of_header(header: &str) -> Option<Known> {
    let names: Vec<String> = header
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .map(str::to_ascii_lowercase)
        .collect();
    let has = |name: &str| names.iter().any(|known| known == name);
    if has("start_timestamp") && has("nodes_used") {
        return Some(DJC);
    }
    if has("job_id") && has("gpu_num") {
        return Some(if has("start_time") { HELIOS } else { JOBS });
    }
    if (has("jobid") || has("jobidraw"))
        && ["state", "start", "nodelist", "end"].into_iter().any(has)
    {
        return Some(SLURM);
    }
    (has("nodename") && has("timestart")).then_some(SLURM_EVENTS)
}
