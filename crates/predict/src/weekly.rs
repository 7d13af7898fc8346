//! Estimates of durations that are learnt again each week of a simulation, from the jobs that have
//! ended in it by then.
//!
//! A schedule up to some moment depends only on the jobs submitted before that moment. So the jobs
//! submitted before a week are simulated, with the estimates known by then, to find those that
//! have ended at its start. From these, the estimates of that week's jobs are learnt, and so on.
//! No later event, and no job's own duration, can influence its estimate.

use std::ops::Range;

use gleaner_learn::ebm::{Control as FitControl, FitError};
use gleaner_learn::lucid::workload::{Estimator, EstimatorChoice, Job as Known, Learning, Past};
use serde::Serialize;

use super::{Calendar, known_jobs};
use gleaner_core::domain::Trace;
use gleaner_simulate::inputs::EstimateTable;
use gleaner_simulate::simulate::SimulateError;
use gleaner_simulate::{Control, Request, Simulation, simulate};

/// Seconds of a week.
const WEEK: i64 = 7 * 24 * 3600;

/// Settings for learning estimates.
#[derive(Debug, Clone, PartialEq)]
pub struct Weekly {
    /// The estimator, or that the best one is chosen each week.
    pub choice: EstimatorChoice,
    /// The data and settings that it learns with.
    pub learning: Learning,
    /// Civil time of the trace.
    pub calendar: Calendar,
    /// The estimate of every job while none has ended, in seconds.
    pub first: f64,
}

/// Estimates of a trace's jobs under one policy.
#[derive(Debug, Clone, PartialEq)]
pub struct WeeklyEstimates {
    /// The estimates by id of the job.
    pub table: EstimateTable,
    /// The weeks for which something was learnt.
    pub weeks: Vec<Week>,
}

/// The origin of the estimates of a week's jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Week {
    /// Second at which the week begins.
    pub from: i64,
    /// Number of jobs that had ended by then.
    pub learnt: usize,
    /// The estimator; if the best was asked for, the best on the last weeks of these jobs.
    pub estimator: Estimator,
}

/// Why there are no estimates.
#[derive(Debug, thiserror::Error)]
pub enum WeeklyError {
    /// The simulation failed.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// Nothing could be learnt.
    #[error("{0}")]
    Fit(#[from] FitError),
}

impl Weekly {
    /// Estimates of all jobs as they would be known under a policy. Jobs that an interrupt cut off
    /// have [`Weekly::first`].
    ///
    /// # Errors
    /// As [`simulate()`].
    pub fn estimates(
        &self,
        simulation: &Simulation<'_>,
        request: &Request,
        control: Control<'_>,
    ) -> Result<WeeklyEstimates, WeeklyError> {
        let trace = simulation.trace;
        let known = known_jobs(trace, simulation.cluster, self.calendar);
        let id = |job: usize| trace.jobs[job].id.clone();
        let first = (0..known.len()).map(|job| (id(job), self.first));
        let mut estimates = WeeklyEstimates {
            table: EstimateTable(first.collect()),
            weeks: Vec::new(),
        };
        let fit_control = FitControl {
            stop: control.stop,
            ..FitControl::default()
        };
        for Jobs { from, jobs } in weeks(trace, simulation.start) {
            let past = &submitted_before(trace, from);
            let table = &estimates.table;
            let past = ended_before(from, simulation, past, &known, table, request, control)?;
            if past.is_empty() {
                continue;
            }
            let fitted = self.choice.fit(&past, &self.learning, fit_control);
            let (estimator, fitted) = match fitted {
                Err(FitError::Stopped) => break,
                fitted => fitted?,
            };
            let seconds = fitted.predict(&known[jobs.clone()]);
            estimates.table.0.extend(jobs.map(id).zip(seconds));
            estimates.weeks.push(Week {
                from,
                learnt: past.len(),
                estimator,
            });
        }
        Ok(estimates)
    }
}

/// The jobs of a week, as indices of the trace.
pub(super) struct Jobs {
    /// Second at which the week begins.
    pub from: i64,
    pub jobs: Range<usize>,
}

/// The weeks since second `start` that have jobs, from the second week on.
pub(super) fn weeks(trace: &Trace, start: i64) -> impl Iterator<Item = Jobs> {
    let place = |second: i64| trace.jobs.partition_point(|job| job.submit < second);
    let mut next = place(start.saturating_add(WEEK));
    std::iter::from_fn(move || {
        // The next week is that of the first job left, so that weeks without jobs are skipped.
        let submit = trace.jobs.get(next)?.submit;
        let from = submit - submit.saturating_sub(start).rem_euclid(WEEK);
        let jobs = next..place(from.saturating_add(WEEK)).max(next + 1);
        next = jobs.end;
        Some(Jobs { from, jobs })
    })
}

fn submitted_before(trace: &Trace, second: i64) -> Trace {
    let jobs = trace.jobs.partition_point(|job| job.submit < second);
    Trace {
        jobs: trace.jobs[..jobs].to_vec(),
        workloads: trace.workloads.clone(),
        origin: trace.origin,
        known: trace.known.clone(),
    }
}

/// The jobs that have ended before `second`, in a simulation of those submitted until then.
fn ended_before<'t>(
    second: i64,
    simulation: &Simulation<'_>,
    past: &Trace,
    known: &[Known<'t>],
    estimates: &EstimateTable,
    request: &Request,
    control: Control<'_>,
) -> Result<Vec<Past<'t>>, SimulateError> {
    let until = Simulation {
        trace: past,
        estimates: Some(estimates),
        check: false,
        ..*simulation
    };
    let quiet = Control {
        progress: &|_, _| (),
        ..control
    };
    let runs = simulate(&until, std::slice::from_ref(request), quiet)?;
    let finished = runs.iter().flat_map(|run| run.finished());
    let ended = finished.filter(|finished| finished.outcome.end < second);
    let past = ended.map(|finished| Past {
        job: known[finished.job].clone(),
        submitted: past.jobs[finished.job].submit,
        ended: finished.outcome.end,
        seconds: past.jobs[finished.job].duration as f64,
    });
    Ok(past.collect())
}
