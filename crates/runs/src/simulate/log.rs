//! The job logs of Lucid's simulator (the original): a row for each job, with every field that the simulator keeps.

use super::nodes;
use gleaner_domain::inputs::Packing;
use gleaner_domain::results::policy_run::{Finished, PolicyRun, ProfilerRun};
use gleaner_domain::results::schedule::JobOutcome;
use gleaner_domain::results::{Column, Table};
use gleaner_domain::{Cluster, Job, Trace, Workload};

/// The priority that the original writes for a job if the policy does not sort by priority.
const NO_PRIORITY: f64 = -1.0;

/// A job as a row of the log.
pub(super) struct Row<'a> {
    pub job: &'a Job,
    vc: &'a str,
    workload: Option<&'a Workload>,
    outcome: &'a JobOutcome,
    /// Whether the job was profiled, how many seconds it waited for the profiler, and whether it ended in the profiler.
    profile: (bool, i64, bool),
    score: Option<u8>,
}

/// All jobs of a run, in the trace's order. Sharing scores come from `packing`.
pub(super) fn rows<'a>(
    trace: &'a Trace,
    cluster: &'a Cluster,
    run: &'a PolicyRun,
    packing: Option<&dyn Packing>,
) -> Vec<Row<'a>> {
    let mut waits = vec![None; trace.jobs.len()];
    for (job, outcome) in run.profiler.iter().flat_map(ProfilerRun::outcomes) {
        waits[job] = Some(outcome.queue);
    }
    let row = |finished: &Finished<'a>| {
        let job = &trace.jobs[finished.job];
        let wait = waits[finished.job];
        let scored = packing.filter(|_| !finished.in_profiler);
        Row {
            job,
            vc: &cluster.vcs[job.vc].name,
            workload: job.workload.map(|index| &trace.workloads[index]),
            outcome: finished.outcome,
            profile: (wait.is_some(), wait.unwrap_or(0), finished.in_profiler),
            score: scored.and_then(|packing| packing.score(job)),
        }
    };
    run.finished().iter().map(row).collect()
}

/// Rows in the format of the original's table. Numbers are written as pandas writes them.
pub(super) fn table<'a>(rows: &[&Row<'a>]) -> Table<'a> {
    let mut columns = submitted(rows);
    columns.extend(scheduled(rows));
    columns.extend(shared(rows));
    Table {
        name: "log",
        columns,
    }
}

type Columns<'a> = Vec<(&'static str, Column<'a>)>;

fn submitted<'a>(rows: &[&Row<'a>]) -> Columns<'a> {
    let text = |of: fn(&Row<'a>) -> &'a str| {
        Column::Texts(rows.iter().map(|row| of(row).into()).collect())
    };
    let whole = |of: fn(&Job) -> i64| whole(rows, |row| of(row.job));
    let of_workload = |of: fn(&Workload) -> i64| {
        Column::OptionalWhole(rows.iter().map(|row| row.workload.map(of)).collect())
    };
    let usage = |of: fn(&Job) -> f64| floats(rows, |row| of(row.job));
    vec![
        ("job_id", text(|row| &row.job.id)),
        ("user", text(|row| &row.job.user)),
        ("vc", text(|row| row.vc)),
        ("jobname", text(|row| &row.job.name)),
        ("gpu_num", whole(|job| job.gpus.into())),
        ("cpu_num", numbers(rows, |row| row.job.cpus)),
        ("state", text(|row| &row.job.state)),
        ("submit_time", whole(|job| job.submit)),
        ("duration", whole(|job| job.duration)),
        (
            "dataset",
            text(|row| row.workload.map_or("", |w| &w.dataset)),
        ),
        ("model", text(|row| row.workload.map_or("", |w| &w.model))),
        ("batchsize", of_workload(|w| w.batch_size.into())),
        ("amp", of_workload(|w| w.amp.into())),
        ("speed", usage(|job| job.usage.speed)),
        ("gpu_util", usage(|job| job.usage.gpu_util)),
        ("gmem_util", usage(|job| job.usage.gmem_util)),
        ("gmem", usage(|job| job.usage.gmem)),
    ]
}

fn scheduled<'a>(rows: &[&Row<'a>]) -> Columns<'a> {
    let seconds = |of: fn(&JobOutcome) -> i64| floats(rows, |row| of(row.outcome) as f64);
    let jct = floats(rows, |row| (row.outcome.end - row.job.submit) as f64);
    let places = rows
        .iter()
        .map(|row| nodes::text(&row.outcome.nodes).into());
    let priority = |row: &Row<'_>| row.outcome.priority.unwrap_or(NO_PRIORITY);
    vec![
        ("remain", numbers(rows, |row| row.outcome.remain)),
        ("start_time", seconds(|outcome| outcome.start)),
        ("end_time", seconds(|outcome| outcome.end)),
        (
            "ckpt_times",
            whole(rows, |row| row.outcome.checkpoints.into()),
        ),
        ("queue", seconds(|outcome| outcome.queue)),
        ("jct", jct),
        ("status", Column::Texts(vec!["end".into(); rows.len()])),
        ("nodes", Column::Texts(places.collect())),
        ("priority", numbers(rows, priority)),
        ("random", whole(rows, |_| 0)),
    ]
}

fn shared<'a>(rows: &[&Row<'a>]) -> Columns<'a> {
    let second = |of: fn(&JobOutcome) -> i64| floats_unless_zero(rows, |row| of(row.outcome));
    let profiled = rows.iter().any(|row| row.profile.0);
    let wait = if profiled {
        floats(rows, |row| row.profile.1 as f64)
    } else {
        whole(rows, |row| row.profile.1)
    };
    vec![
        ("profiled", whole(rows, |row| row.profile.0.into())),
        ("profqueue", wait),
        ("toskip", whole(rows, |row| row.profile.2.into())),
        ("exclusive", whole(rows, |row| row.outcome.exclusive.into())),
        ("rate", numbers(rows, |row| row.outcome.speed)),
        ("sharescore", scores(rows)),
        ("Tcolocate", second(|outcome| outcome.colocated)),
        ("Tdelocate", second(|outcome| outcome.delocated)),
    ]
}

fn whole<'c>(rows: &[&Row<'_>], of: impl Fn(&Row<'_>) -> i64) -> Column<'c> {
    Column::Whole(rows.iter().map(|row| of(row)).collect())
}

fn floats<'c>(rows: &[&Row<'_>], of: impl Fn(&Row<'_>) -> f64) -> Column<'c> {
    Column::PythonFloats(rows.iter().map(|row| Some(of(row))).collect())
}

/// Integers if all values are integers that fit into 64 bits, otherwise floats, as in pandas.
fn numbers<'c>(rows: &[&Row<'_>], of: impl Fn(&Row<'_>) -> f64) -> Column<'c> {
    let is_whole = |number: f64| number.fract() == 0.0 && number.abs() < i64::MAX as f64;
    if rows.iter().all(|row| is_whole(of(row))) {
        whole(rows, |row| of(row) as i64)
    } else {
        floats(rows, of)
    }
}

/// Times in seconds, as floats: the original's clock is a float. A zero marks an event that never
/// happened. A column that contains only zeros holds integers.
fn floats_unless_zero<'c>(rows: &[&Row<'_>], of: impl Fn(&Row<'_>) -> i64) -> Column<'c> {
    if rows.iter().all(|row| of(row) == 0) {
        whole(rows, of)
    } else {
        floats(rows, |row| of(row) as f64)
    }
}

/// Sharing scores. If a score is missing, the column holds floats, as in pandas.
fn scores<'c>(rows: &[&Row<'_>]) -> Column<'c> {
    if rows.iter().all(|row| row.score.is_some()) {
        Column::OptionalWhole(rows.iter().map(|row| row.score.map(i64::from)).collect())
    } else {
        Column::PythonFloats(rows.iter().map(|row| row.score.map(f64::from)).collect())
    }
}
