//! The tables with a row for each job.

use super::nodes;
use gleaner_core::domain::{Cluster, Job, Trace};
use gleaner_core::results::policy_run::{Finished, PolicyRun, ProfilerRun};
use gleaner_core::results::schedule::JobOutcome;
use gleaner_core::results::states::{JOBS, PROFILER_JOBS, PROFILER_SCALING};
use gleaner_core::results::{Column, Table};

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
    let columns = [
        ids(rows.iter().map(|row| &trace.jobs[row.job])),
        vcs(trace, cluster, &rows),
        gpus(trace, &rows),
        job(|j| j.submit),
        job(|j| j.duration),
        outcome(|o| o.start),
        outcome(|o| o.end),
        outcome(|o| o.queue),
        Column::Whole(rows.iter().map(jct).collect()),
        Column::Integers(checkpoints.collect()),
        places(rows.iter().map(|row| Some(row.outcome))),
    ];
    Table::named(name, &JOBS, columns)
}

/// All jobs of the trace in the profiler; jobs that it did not run have no times.
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
    let columns = [
        ids(trace.jobs.iter()),
        time(|o| o.start),
        time(|o| o.end),
        Column::Integers(rows.iter().map(|row| row.is_some().into()).collect()),
        Column::Whole(queues.collect()),
        Column::Integers(ended.collect()),
        places(rows.iter().copied()),
    ];
    Table::named("profiler_jobs", &PROFILER_JOBS, columns)
}

/// The nodes that the profiler borrowed and gave back.
pub fn profiler_scaling(profiler: &ProfilerRun) -> Table<'_> {
    let steps = &profiler.schedule.scaling;
    let columns = [
        Column::Whole(steps.iter().map(|step| step.0).collect()),
        Column::Whole(steps.iter().map(|step| step.1.into()).collect()),
    ];
    Table::named("profiler_scaling", &PROFILER_SCALING, columns)
}

/// Ids as numbers if every id is a number as this program writes it; otherwise as texts.
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
