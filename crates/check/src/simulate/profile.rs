//! Compares the tables of Lucid's profiler with the trace and with each other.

use gleaner_domain::error::Result;
use gleaner_domain::results::Record;
use gleaner_domain::results::states::{ProfilerJobRow, ScalingRow};
use gleaner_runs::read::{Cell, RunInfo};

use super::given::Profiling;
use super::policy::arriving;
use super::runs::{Run, parse};
use super::stage::{Stage, Swept, sweep};
use super::{Given, states};
use crate::Findings;

const JOBS: &str = "profiler_jobs";
const SCALING: &str = "profiler_scaling";
const STATES: &str = "profiler_seq";

/// Range of accepted times in seconds. The range is limited so that sums of a few times do not
/// overflow.
const TIMES: std::ops::RangeInclusive<i64> = i64::MIN / 4..=i64::MAX / 4;

/// A row of `profiler_jobs`.
#[derive(Debug, Clone, Default)]
struct Row {
    id: String,
    start: Option<i64>,
    end: Option<i64>,
    is_profiled: i64,
    waited: i64,
    ended_there: i64,
    nodes: String,
}

/// The profiler's activity.
pub(super) struct Profiled {
    rows: Vec<Row>,
    pub swept: Swept,
    /// Changes in the number of nodes of the lending virtual cluster. Each entry has the second of the
    /// change, and 1 for a returned node or -1 for a lent node.
    pub echo: Vec<(i64, i32)>,
}

impl Profiled {
    /// Whether a job of the trace ended while it was profiled.
    pub fn ended_there(&self, job: usize) -> bool {
        self.rows[job].ended_there == 1
    }

    /// Start and end of a job's profiling; `None` if the job was not profiled.
    pub fn times(&self, job: usize) -> Option<(i64, i64)> {
        self.rows[job].start.zip(self.rows[job].end)
    }

    /// The nodes on which a job was profiled.
    pub fn nodes(&self, job: usize) -> &str {
        &self.rows[job].nodes
    }
}

/// Verifies the profiler's tables of jobs and loans. Returns `None` if the tables are invalid.
///
/// # Errors
/// A table is missing or damaged.
pub(super) fn check(
    info: &RunInfo,
    given: &Given<'_>,
    profiler: &Profiling,
    findings: &mut Findings,
) -> Result<Option<Profiled>> {
    let before = findings.wrong_count;
    let rows = read_jobs(info, given, findings)?;
    let steps = read_steps(info, findings)?;
    findings.covers(JOBS, ProfilerJobRow::FIELDS.iter().map(|field| field.name));
    findings.covers(SCALING, ScalingRow::FIELDS.iter().map(|field| field.name));
    if findings.wrong_count > before {
        return Ok(None);
    }
    let mut runs = Vec::new();
    for (job, row) in rows.iter().enumerate() {
        runs.extend(account(job, row, given, profiler, findings));
    }
    if findings.wrong_count > before {
        return Ok(None);
    }
    // Among jobs that start in the same second, the queue puts jobs with fewer GPUs first.
    runs.sort_by_key(|run| (run.from, given.trace.jobs[run.job].gpus, run.job));
    let submitted = |run: &Run| given.trace.jobs[run.job].submit.max(given.start);
    let stage = Stage {
        place: JOBS.to_owned(),
        jobs: runs.iter().map(|run| (run.job, submitted(run))).collect(),
        runs: &runs,
        nodes: profiler.nodes,
        steps: &steps,
        by_name: true,
        placer: Some(given.placer),
        shares: false,
        is_corrected: false,
        is_profiler: true,
        arriving: arriving(given),
    };
    let swept = sweep(&stage, given, findings);
    let mut echo: Vec<(i64, i32)> = steps.iter().map(|&(time, nodes)| (time, -nodes)).collect();
    // A node that was never returned counts as returned when the last job ends.
    let borrowed: i32 = steps.iter().map(|step| step.1).sum();
    let last = runs.iter().map(|run| run.until).max();
    echo.extend(last.filter(|_| borrowed > 0).map(|last| (last, borrowed)));
    Ok(Some(Profiled { rows, swept, echo }))
}

/// Compares the table of the profiler's states.
///
/// # Errors
/// The table is missing or damaged.
pub(super) fn states(
    info: &RunInfo,
    profiled: &Profiled,
    step: i64,
    findings: &mut Findings,
) -> Result<()> {
    states::compare(
        info,
        STATES,
        &[("profiler", &profiled.swept)],
        step,
        findings,
    )
}

/// Compares a row of `profiler_jobs` with the trace: whether the job was profiled, for how long,
/// and where. Returns the job's run in the profiler, if it was profiled.
fn account(
    job: usize,
    row: &Row,
    given: &Given<'_>,
    profiler: &Profiling,
    findings: &mut Findings,
) -> Option<Run> {
    let submitted = &given.trace.jobs[job];
    let place = |what| format!("{JOBS}, job {:?}: {what}", submitted.id);
    let is_profiled = submitted.gpus <= profiler.most_gpus();
    findings.equal(place("profiled"), row.is_profiled, i64::from(is_profiled));
    let ends = is_profiled && submitted.duration <= profiler.limit;
    findings.equal(place("toskip"), row.ended_there, i64::from(ends));
    let times = row.start.zip(row.end);
    findings.holds(
        times.is_some() == is_profiled && row.start.is_some() == is_profiled,
        || place("its times are missing, or it has times although it was not profiled"),
    );
    let Some((start, end)) = times else {
        findings.equal(place("profqueue"), row.waited, 0);
        findings.equal(place("nodes"), row.nodes.as_str(), "[]");
        return None;
    };
    findings.equal(place("profqueue"), row.waited, start - submitted.submit);
    let length = submitted.duration.min(profiler.limit);
    findings.equal(place("end_time"), end, start.saturating_add(length));
    findings.holds(start >= submitted.submit.max(given.start), || {
        place("it starts before its submission, or before the start of the simulation")
    });
    let Some(nodes) = parse(&row.nodes) else {
        findings.add(|| place("nodes are invalid, expected a list such as [{0: [0, 1]}]"));
        return None;
    };
    Some(Run {
        job,
        from: start,
        until: end,
        place: nodes,
        speeds: vec![(start, 1.0)],
        is_last: true,
    })
}

fn read_jobs(info: &RunInfo, given: &Given<'_>, findings: &mut Findings) -> Result<Vec<Row>> {
    let jobs = &given.trace.jobs;
    let count = info.rows(JOBS)?;
    findings.equal(format_args!("{JOBS}: rows"), count, jobs.len());
    let mut rows = vec![Row::default(); jobs.len()];
    let whole = |cell: Cell<'_>, findings: &mut Findings, place: &str| match cell {
        Cell::Whole(number) if TIMES.contains(&number) => number,
        other => {
            findings.add(|| format!("{place}: found {other:?}, expected a number of seconds"));
            0
        }
    };
    for (number, field) in ProfilerJobRow::FIELDS.iter().enumerate() {
        let is_there = info.visit(JOBS, field.name, |row, cell| {
            let place = format!("{JOBS}, row {row}: {}", field.name);
            let Some(row) = rows.get_mut(row) else {
                return;
            };
            let seconds = |findings: &mut Findings| {
                (cell != Cell::Missing).then(|| whole(cell, findings, &place))
            };
            match number {
                0 => row.id = text(cell),
                1 => row.start = seconds(findings),
                2 => row.end = seconds(findings),
                3 => row.is_profiled = whole(cell, findings, &place),
                4 => row.waited = whole(cell, findings, &place),
                5 => row.ended_there = whole(cell, findings, &place),
                _ => row.nodes = text(cell),
            }
        })?;
        findings.holds(is_there, || {
            format!("{JOBS}: the column {} is missing", field.name)
        });
    }
    for (row, job) in rows.iter().zip(jobs) {
        findings.equal(
            format_args!("{JOBS}, job {:?}: job_id", job.id),
            &row.id,
            &job.id,
        );
    }
    Ok(rows)
}

fn text(cell: Cell<'_>) -> String {
    match cell {
        Cell::Text(text) => text.to_owned(),
        Cell::Whole(number) => number.to_string(),
        Cell::Number(number) => number.to_string(),
        Cell::Missing => String::new(),
    }
}

/// The seconds at which a node was borrowed (1) or returned (-1), in ascending order.
fn read_steps(info: &RunInfo, findings: &mut Findings) -> Result<Vec<(i64, i32)>> {
    let mut steps = vec![(0, 0); info.rows(SCALING)?];
    let mut last = i64::MIN;
    for column in ["time", "scaling_num"] {
        let is_there = info.visit(SCALING, column, |row, cell| match (column, cell) {
            ("time", Cell::Whole(time)) if TIMES.contains(&time) && time > last => {
                last = time;
                steps[row].0 = time;
            }
            ("scaling_num", Cell::Whole(step @ (-1 | 1))) => steps[row].1 = step as i32,
            _ => findings.add(|| format!("{SCALING}, row {row}: {column} is {cell:?}, expected ascending times and steps of 1 or -1")),
        })?;
        findings.holds(is_there, || {
            format!("{SCALING}: the column {column} is missing")
        });
    }
    Ok(steps)
}
