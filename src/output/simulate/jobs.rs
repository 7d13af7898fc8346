//! The tables with a row a job.

use super::nodes;
use crate::domain::{Cluster, Job, Trace};
use crate::lucid::result::{Finished, PolicyRun, ProfilerRun};
use crate::lucid::schedule::JobOutcome;
use crate::results::{Column, Table};

/// A policy's jobs, in the trace's order, as the table `name`.
pub fn jobs<'a>(
    name: &'a str,
    trace: &'a Trace,
    cluster: &'a Cluster,
    run: &PolicyRun,
) -> Table<'a> {
    let rows = run.finished();
    let job = |of: fn(&Job) -> i64| {
        let jobs = rows.iter().map(|row| &trace.jobs[row.job]);
        Column::Whole(jobs.map(of).collect())
    };
    let outcome = |of: fn(&JobOutcome) -> i64| {
        Column::Whole(rows.iter().map(|row| of(row.outcome)).collect())
    };
    let jct = |row: &Finished<'_>| row.outcome.end - trace.jobs[row.job].submit;
    let checkpoints = rows.iter().map(|row| row.outcome.checkpoints.into());
    Table {
        name,
        columns: vec![
            ("job_id", ids(rows.iter().map(|row| &trace.jobs[row.job]))),
            ("vc", vcs(trace, cluster, &rows)),
            ("gpu_num", gpus(trace, &rows)),
            ("submit_time", job(|j| j.submit)),
            ("duration", job(|j| j.duration)),
            ("start_time", outcome(|o| o.start)),
            ("end_time", outcome(|o| o.end)),
            ("queue", outcome(|o| o.queue)),
            ("jct", Column::Whole(rows.iter().map(jct).collect())),
            ("ckpt_times", Column::Integers(checkpoints.collect())),
            ("nodes", places(rows.iter().map(|row| Some(row.outcome)))),
        ],
    }
}

/// All jobs of the trace as the profiler saw them; those it did not run have no times.
pub fn profiler_jobs<'a>(trace: &'a Trace, profiler: &ProfilerRun) -> Table<'a> {
    let mut rows: Vec<Option<&JobOutcome>> = vec![None; trace.jobs.len()];
    for (job, outcome) in profiler.outcomes() {
        rows[job] = Some(outcome);
    }
    let time = |of: fn(&JobOutcome) -> i64| {
        Column::OptionalWhole(rows.iter().map(|row| row.map(of)).collect())
    };
    let queues = rows.iter().map(|row| row.map_or(0, |o| o.queue));
    let ended = trace.jobs.iter().zip(&rows);
    let ended = ended.map(|(job, row)| u64::from(row.is_some() && job.duration <= profiler.limit));
    Table {
        name: "profiler_jobs",
        columns: vec![
            ("job_id", ids(trace.jobs.iter())),
            ("start_time", time(|o| o.start)),
            ("end_time", time(|o| o.end)),
            (
                "profiled",
                Column::Integers(rows.iter().map(|row| row.is_some().into()).collect()),
            ),
            ("profqueue", Column::Whole(queues.collect())),
            ("toskip", Column::Integers(ended.collect())),
            ("nodes", places(rows.iter().copied())),
        ],
    }
}

/// The nodes that the profiler borrowed and gave back.
pub fn profiler_scaling(profiler: &ProfilerRun) -> Table<'_> {
    let steps = &profiler.schedule.scaling;
    Table {
        name: "profiler_scaling",
        columns: vec![
            (
                "time",
                Column::Whole(steps.iter().map(|step| step.0).collect()),
            ),
            (
                "scaling_num",
                Column::Whole(steps.iter().map(|step| step.1.into()).collect()),
            ),
        ],
    }
}

/// Numbers where every id is one, written as this program writes numbers; else texts.
fn ids<'a>(jobs: impl Iterator<Item = &'a Job> + Clone) -> Column<'a> {
    let numbers = jobs.clone().map(|job| {
        let number: i64 = job.id.parse().ok()?;
        (number.to_string() == job.id).then_some(number)
    });
    match numbers.collect() {
        Some(numbers) => Column::Whole(numbers),
        None => Column::Texts(jobs.map(|job| job.id.as_str().into()).collect()),
    }
}

fn vcs<'a>(trace: &Trace, cluster: &'a Cluster, rows: &[Finished<'_>]) -> Column<'a> {
    let indices = rows.iter().map(|row| trace.jobs[row.job].vc as u32);
    Column::Names {
        names: cluster.vcs.iter().map(|vc| vc.name.as_str()).collect(),
        indices: indices.collect(),
    }
}

fn gpus<'a>(trace: &Trace, rows: &[Finished<'_>]) -> Column<'a> {
    let gpus = rows.iter().map(|row| trace.jobs[row.job].gpus.into());
    Column::Integers(gpus.collect())
}

fn places<'a, 'o>(rows: impl Iterator<Item = Option<&'o JobOutcome>>) -> Column<'a> {
    let texts = rows.map(|row| nodes::text(row.map_or(&[], |outcome| &outcome.nodes)).into());
    Column::Texts(texts.collect())
}
