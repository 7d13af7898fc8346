//! Reads the jobs of Philly's log, and for how long they held GPUs.

use super::TraceReader;
use super::collector::{Draft, JobCollector, RunTimes};
use crate::scheduler::Reason;
use crate::scheduler::philly;
use crate::scheduler::philly::{Attempt, Job};
use gleaner_core::error::Result;
use gleaner_core::words::counted;
use gleaner_io::input::{Input, Place};

/// Reads the log.
pub(super) struct PhillyReader;

impl TraceReader for PhillyReader {
    fn file(&mut self, input: &mut Input<'_>, collector: &mut JobCollector) -> Result<()> {
        philly::jobs(
            input,
            collector,
            |collector| &mut collector.log_counts,
            take,
        )
    }
}

/// Adds a job, if it has ended. Its GPUs are those of its first attempt.
fn take(collector: &mut JobCollector, job: &Job, place: Place<'_>) -> Result<()> {
    let (Some(id), Some(vc), Some(submitted)) = (&job.id, &job.vc, job.submitted) else {
        let found = "a job without jobid, vc or submitted_time";
        return collector.log_counts.fault(Reason::Unreadable, place, found);
    };
    let (Some(first), Some(last)) = (job.attempts.first(), job.attempts.last()) else {
        collector.log_counts.leave_out(Reason::NeverStarted);
        return Ok(());
    };
    if last.start.is_some() && last.end.is_none() {
        collector.log_counts.leave_out(Reason::StillRunning);
        return Ok(());
    }
    let runs = runs(job, place, collector)?;
    if runs.is_empty() {
        return Ok(());
    }
    check_machines(&job.attempts, place, collector)?;
    let draft = Draft {
        id,
        user: job.user.as_deref().unwrap_or_default(),
        vc,
        state: state(job.status.as_deref().unwrap_or_default()),
        gpus: first.gpus(),
        cpus: 0.0,
        submit: collector.seconds(place, [Some(submitted)])?[0].unwrap_or_default(),
        runs: RunTimes::At(&runs),
    };
    let at = collector.at(place);
    collector.take(&draft, at)
}

/// The starts and ends of the attempts. Attempts that lack one of them are left out and counted.
fn runs(job: &Job, place: Place<'_>, collector: &mut JobCollector) -> Result<Vec<(i64, i64)>> {
    let mut runs = Vec::with_capacity(job.attempts.len());
    for attempt in &job.attempts {
        if let (Some(start), Some(end)) = (attempt.start, attempt.end) {
            let times = [job.submitted, Some(start), Some(end)];
            let [_, start, end] = collector.seconds(place, times)?;
            runs.extend(start.zip(end));
        }
    }
    let lost = job.attempts.len() - runs.len();
    if lost > 0 {
        let found = format_args!("{lost} of {} attempts", job.attempts.len());
        collector.log_counts.fault(Reason::NoRun, place, found)?;
    }
    Ok(runs)
}

/// Counts a job that uses more GPUs of a machine than the list of machines has.
fn check_machines(
    attempts: &[Attempt],
    place: Place<'_>,
    collector: &mut JobCollector,
) -> Result<()> {
    let machines = attempts.iter().flat_map(|attempt| &attempt.machines);
    let mut known =
        machines.filter_map(|used| Some((used, collector.machines.gpus_of(&used.name)?)));
    let Some((used, has)) = known.find(|(used, has)| used.gpus > u64::from(*has)) else {
        return Ok(());
    };
    let gpus = counted(used.gpus, "GPU");
    let found = format!("{gpus} of {}, which has {has}", used.name);
    collector
        .log_counts
        .fault(Reason::TooManyOfNode, place, found)
}

/// Converts the status of a job to Slurm's words, which simulations use.
fn state(status: &str) -> &str {
    match status {
        "Pass" => "COMPLETED",
        "Failed" => "FAILED",
        "Killed" => "CANCELLED",
        other => other,
    }
}
