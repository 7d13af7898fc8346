//! Reads Slurm's jobs from the table that `sacct` prints, which has one row for each run of a job.

use std::borrow::Cow;

use super::clock::moment;
use super::collector::{At, Collector, Log};
use super::counts::Reason;
use super::duplicates::Duplicates;
use super::reader::LineReader;
use super::record::{Job, Nodes, Queued, Record, Run};
use super::select::no_column;
use gleaner_domain::error::{Fault, Result};
use gleaner_io::delimited::{Layout, LogTable, Names, Row};
use gleaner_io::input::{Line, Place};

/// The command that writes the table, with the columns needed to find idle nodes.
pub const COMMAND: &str = "sacct -a -X -P -D -S <from> -E <to> \
                           -o JobIDRaw,State,Submit,Start,End,NNodes,NodeList";

/// The command that writes the table, with the columns needed to read the jobs that held GPUs.
pub const JOBS_COMMAND: &str = "sacct -a -X -P -D -S <from> -E <to> -o JobIDRaw,User,Account,\
                                Partition,State,Submit,Start,End,NNodes,NodeList,AllocTRES";

const COLUMNS: &[Names] = &[
    &["JobIDRaw", "JobID"],
    &["State"],
    &["Submit"],
    &["Start"],
    &["End"],
    &["NodeList"],
    &["AllocTRES"],
    &["NNodes"],
    &["User"],
    &["Partition"],
    &["Account"],
    &["AllocCPUS", "NCPUS"],
];
const ID: usize = 0;
const STATE: usize = 1;
const SUBMIT: usize = 2;
const START: usize = 3;
const END: usize = 4;
const NODES: usize = 5;
const TRES: usize = 6;
const COUNT: usize = 7;
const USER: usize = 8;
const PARTITION: usize = 9;
const ACCOUNT: usize = 10;
const CPUS: usize = 11;

const IDLE_NODES: Layout = Layout {
    columns: COLUMNS,
    required: &[ID, STATE, START, END, NODES],
    quoted: false,
    remedy: || format!("make the file with `{COMMAND}`"),
};
const JOBS: Layout = Layout {
    required: &[ID, STATE, SUBMIT, START, END, TRES],
    remedy: || format!("make the file with `{JOBS_COMMAND}`"),
    ..IDLE_NODES
};

/// The column that names the virtual clusters of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VcOf {
    /// The partitions, or the accounts if the table has no column of partitions.
    Partition,
    /// The accounts.
    Account,
}

/// Reads the table that `sacct` prints.
pub struct SacctReader {
    table: LogTable,
    /// The column that names the virtual clusters; `None` if only the nodes of jobs matter.
    vc_of: Option<VcOf>,
    /// The lines read so far, if the log has several files and a repeated line must be counted only once.
    duplicates: Option<Duplicates>,
}

impl SacctReader {
    /// A reader for idle nodes. `delimiter` separates the cells; `None` infers it from the header.
    /// Set `are_several` if there are several tables, which may overlap.
    pub fn for_idle_nodes(delimiter: Option<String>, are_several: bool) -> Self {
        SacctReader {
            table: LogTable::new(IDLE_NODES, delimiter),
            vc_of: None,
            duplicates: are_several.then(Duplicates::default),
        }
    }

    /// A reader for jobs that held GPUs. `delimiter` separates the cells; `None` infers it from the
    /// header.
    pub fn for_jobs(delimiter: Option<String>, vc_of: VcOf) -> Self {
        SacctReader {
            table: LogTable::new(JOBS, delimiter),
            vc_of: Some(vc_of),
            duplicates: None,
        }
    }

    /// Checks that the table has the columns by which jobs are selected or assigned to virtual
    /// clusters.
    fn check_columns(&self, log: &Log, place: Place<'_>) -> Result<()> {
        if !log.selection.partitions.is_empty() && !self.table.has(PARTITION) {
            let remedy = "add Partition to the columns that sacct prints (-o)";
            return Err(no_column("Partition", place).remedy(remedy).into());
        }
        self.check_vc(place)
    }

    /// Checks that the table has a column for the virtual clusters, if they are needed.
    fn check_vc(&self, place: Place<'_>) -> Result<()> {
        let has = |vc_of| {
            vc_columns(vc_of)
                .iter()
                .any(|column| self.table.has(*column))
        };
        if self.vc_of.is_none_or(has) {
            return Ok(());
        }
        let expected = "a column Partition or Account, which names the virtual clusters";
        let fault = Fault::of(place.file, "neither in the header", expected);
        Err(fault.at(place.within()).remedy((JOBS.remedy)()).into())
    }
}

impl LineReader for SacctReader {
    fn begin(&mut self) {
        self.table.begin();
    }

    fn line(&mut self, line: &Line<'_>, collector: &mut Collector<'_>) -> Result<()> {
        let Some(row) = collector.row(&mut self.table, line)? else {
            return self.check_columns(&collector.log, line.place);
        };
        if let Some(lines) = &mut self.duplicates
            && lines.has(&line.text)
        {
            collector.log.leave_out(Reason::Duplicate);
            return Ok(());
        }
        let (partition, state) = (row.text(PARTITION), row.text(STATE));
        if !collector
            .log
            .selects(|selection| selection.takes(partition, state))
        {
            return Ok(());
        }
        let at = collector.log.at(line.place);
        job(&row, self.vc_of, at, collector)
    }
}

/// The columns that can name the virtual clusters, in order of preference.
fn vc_columns(vc_of: VcOf) -> &'static [usize] {
    match vc_of {
        VcOf::Partition => &[PARTITION, ACCOUNT],
        VcOf::Account => &[ACCOUNT],
    }
}

/// Reports the run that a row describes.
fn job(
    row: &Row<'_, '_>,
    vc_of: Option<VcOf>,
    at: At,
    collector: &mut Collector<'_>,
) -> Result<()> {
    let log = &mut collector.log;
    if row.text(ID).contains('.') {
        log.leave_out(Reason::Step);
        return Ok(());
    }
    let state = row.text(STATE);
    let submit = row.cell(SUBMIT).and_then(moment);
    let count = row.cell(COUNT).and_then(|count| count.parse().ok());
    let is_unnamed = vc_of.is_none() && is_unknown(row.text(NODES));
    if is_unknown(row.text(START)) || is_unnamed && never_ran(row) {
        let job = Job {
            id: row.text(ID),
            submit,
            queued: queued(state, row.text(END), count),
            is_part: true,
            ..Job::default()
        };
        return collector.take(at, &Record::Job(job));
    }
    if is_unnamed {
        let found = format_args!("{state} on {:?}", row.text(NODES));
        log.fault(Reason::NoNodes, at, found)?;
    }
    let (start, end) = (moment(row.text(START)), moment(row.text(END)));
    let wrong = [
        (SUBMIT, vc_of.is_some() && submit.is_none()),
        (START, start.is_none()),
        (END, end.is_none() && !is_unknown(row.text(END))),
    ];
    if let Some((column, _)) = wrong.into_iter().find(|(_, wrong)| *wrong) {
        return no_time(row.text(column), at, log);
    }
    let lists = [Cow::Borrowed(row.text(NODES))];
    let lists = if is_unnamed { &[] } else { &lists[..] };
    let mut nodes = Nodes::Lists(lists, count);
    if row.text(NODES).starts_with('"') {
        let found = format_args!(
            "{} has a quote that is not closed before a delimiter",
            row.text(NODES)
        );
        log.fault(Reason::DamagedList, at, found)?;
        // Although its list is damaged, the job did hold nodes.
        nodes = Nodes::Damaged(lists, count);
    }
    let run = Run { start, end, nodes };
    let job = Job {
        id: row.text(ID),
        state,
        submit,
        runs: &[run],
        is_over: end.is_none() && !holds_nodes(state),
        is_part: true,
        ..Job::default()
    };
    let Some(vc_of) = vc_of else {
        return collector.take(at, &Record::Job(job));
    };
    let gpus = match gpus(row.text(TRES)) {
        Ok(gpus) => gpus,
        Err(found) => return log.fault(Reason::Unreadable, at, found),
    };
    let vc = vc_columns(vc_of)
        .iter()
        .find_map(|column| row.cell(*column));
    let job = Job {
        user: row.text(USER),
        vc: vc.unwrap_or_default(),
        state: state.split(' ').next().unwrap_or_default(),
        gpus,
        cpus: row.text(CPUS).parse().unwrap_or(0.0),
        ..job
    };
    collector.take(at, &Record::Job(job))
}

/// Whether a job without a list of nodes never held a node.
fn never_ran(row: &Row<'_, '_>) -> bool {
    let state = row.text(STATE);
    let waiting = ["PENDING", "CANCELLED", "REQUEUED", "DEADLINE", "REVOKED"];
    waiting.iter().any(|word| state.starts_with(word)) || row.text(START) == row.text(END)
}

/// The wait of a job that never ran. `None` if the job is not pending and the log does not state when it left the
/// queue.
fn queued(state: &str, end: &str, nodes: Option<usize>) -> Option<Queued> {
    let until = moment(end);
    let is_pending = is_unknown(end) && state.starts_with("PENDING");
    (until.is_some() || is_pending).then_some(Queued {
        until,
        nodes: nodes.unwrap_or(1),
    })
}

/// Records a fault for a string that is not a time.
pub(super) fn no_time(text: &str, at: At, log: &mut Log) -> Result<()> {
    let found = format_args!("{text:?} is not a time such as 2026-01-31T08:00:00");
    log.fault(Reason::Unreadable, at, found)
}

/// Whether a string is one of the words that Slurm writes in place of an unknown value.
pub fn is_unknown(text: &str) -> bool {
    matches!(
        text,
        "" | "Unknown" | "None" | "None assigned" | "(null)" | "N/A"
    )
}

/// Whether a job in this state still holds its nodes.
fn holds_nodes(state: &str) -> bool {
    let live = [
        "RUNNING",
        "SUSPENDED",
        "COMPLETING",
        "CONFIGURING",
        "RESIZING",
        "SIGNALING",
        "STAGE_OUT",
        "STOPPED",
    ];
    live.iter().any(|word| state.starts_with(word))
}

/// The number of GPUs in trackable resources such as `cpu=8,gres/gpu:a100=4,gres/gpu=4,node=1`. Returns the total if it
/// is stated, or else the sum over all types.
fn gpus(resources: &str) -> Result<u64, String> {
    let (mut all, mut typed) = (None, 0u64);
    for resource in resources.split(',') {
        let Some((name, count)) = resource.split_once('=') else {
            continue;
        };
        let Some(kind) = name.trim().strip_prefix("gres/gpu") else {
            continue;
        };
        // Skip other resources, such as gres/gpumem and gres/gpuutil.
        if !(kind.is_empty() || kind.starts_with(':')) {
            continue;
        }
        let count = count.trim().parse::<u64>().ok();
        let count = count.ok_or_else(|| format!("{resource:?} has no valid number of GPUs"))?;
        match kind {
            "" => all = Some(count),
            _ => typed = typed.saturating_add(count),
        }
    }
    Ok(all.unwrap_or(typed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_counted_once() {
        for (resources, expected) in [
            (
                "billing=8,cpu=8,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1",
                4,
            ),
            ("cpu=8,gres/gpu=2", 2),
            ("gres/gpu:a100=3,gres/gpu:1g.5gb=2", 5),
            ("cpu=8,gres/gpumem=80G,gres/gpuutil=100", 0),
            ("", 0),
        ] {
            assert_eq!(gpus(resources), Ok(expected), "{resources}");
        }
        assert!(gpus("gres/gpu=many").unwrap_err().contains("many"));
    }
}
