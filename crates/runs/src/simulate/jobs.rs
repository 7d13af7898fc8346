//! The tables of jobs, of the jobs' runs, and of the profiler's jobs and borrowed nodes.

use std::sync::Arc;

use super::nodes;
use gleaner_domain::results::policy_run::{Finished, PolicyRun, ProfilerRun};
use gleaner_domain::results::schedule::JobOutcome;
use gleaner_domain::results::schedule::JobRun;
use gleaner_domain::results::states::{JobRow, ProfilerJobRow, RunRow, ScalingRow};
use gleaner_domain::{Cluster, Job, Trace};

/// A policy's jobs, in the trace's order.
pub fn job_rows(trace: &Trace, cluster: &Cluster, run: &PolicyRun) -> Vec<JobRow> {
    let vcs: Vec<Arc<str>> = cluster
        .vcs
        .iter()
        .map(|vc| vc.name.as_str().into())
        .collect();
    let row = |finished: &Finished<'_>| {
        let (job, outcome) = (&trace.jobs[finished.job], finished.outcome);
        JobRow {
            id: job.id.clone(),
            vc: Arc::clone(&vcs[job.vc]),
            gpus: job.gpus,
            submit: job.submit,
            duration: job.duration,
            start: outcome.start,
            end: outcome.end,
            queue: outcome.queue,
            jct: outcome.end - job.submit,
            checkpoints: outcome.checkpoints,
            nodes: nodes::text(&outcome.nodes),
        }
    };
    run.finished().iter().map(row).collect()
}

/// The runs of a policy's jobs, split where their speed changes. Runs in the profiler are omitted.
pub fn run_rows(trace: &Trace, cluster: &Cluster, run: &PolicyRun) -> Vec<RunRow> {
    let mut rows = Vec::new();
    for vc in &run.vcs {
        let name: Arc<str> = cluster.vcs[vc.vc].name.as_str().into();
        let mut runs_before = vec![0; vc.jobs.len()];
        for run in &vc.schedule.runs {
            let number = runs_before[run.job];
            runs_before[run.job] += 1;
            let nodes = nodes::text(&run.placement);
            rows.extend(stretches(run).map(|(from, to, speed)| RunRow {
                id: trace.jobs[vc.jobs[run.job]].id.clone(),
                vc: Arc::clone(&name),
                run: number,
                from,
                to,
                speed,
                nodes: nodes.clone(),
            }));
        }
    }
    rows
}

/// The intervals of a run during which the speed is constant: start, end, speed.
fn stretches(run: &JobRun) -> impl Iterator<Item = (i64, i64, f64)> {
    let changes: Vec<&[(i64, f64)]> = run.speeds.chunk_by(|a, b| a.1 == b.1).collect();
    let starts: Vec<(i64, f64)> = changes.iter().map(|same| same[0]).collect();
    let ends = starts.iter().skip(1).map(|&(from, _)| from);
    let ends: Vec<i64> = ends.chain([run.until]).collect();
    let stretches = starts.into_iter().zip(ends);
    let stretches = stretches.map(|((from, speed), to)| (from, to, speed));
    stretches.filter(|&(from, to, _)| from < to)
}

/// A row for each job of the trace, with its times in the profiler. A job that the profiler did
/// not run has no times.
pub fn profiler_job_rows(trace: &Trace, profiler: &ProfilerRun) -> Vec<ProfilerJobRow> {
    let mut outcomes: Vec<Option<&JobOutcome>> = vec![None; trace.jobs.len()];
    for (job, outcome) in profiler.outcomes() {
        outcomes[job] = Some(outcome);
    }
    let jobs = trace.jobs.iter().zip(outcomes);
    let row = |(job, outcome): (&Job, Option<&JobOutcome>)| ProfilerJobRow {
        id: job.id.clone(),
        start: outcome.map(|outcome| outcome.start),
        end: outcome.map(|outcome| outcome.end),
        is_profiled: outcome.is_some(),
        queue: outcome.map_or(0, |outcome| outcome.queue),
        has_ended: outcome.is_some() && job.duration <= profiler.limit,
        nodes: nodes::text(outcome.map_or(&[], |outcome| &outcome.nodes)),
    };
    jobs.map(row).collect()
}

/// The times at which the profiler borrowed and returned nodes, with the numbers of nodes.
pub fn scaling_rows(profiler: &ProfilerRun) -> Vec<ScalingRow> {
    let steps = profiler.schedule.scaling.iter();
    let row = |&(time, change): &(i64, i32)| ScalingRow {
        time,
        change: change.into(),
    };
    steps.map(row).collect()
}
