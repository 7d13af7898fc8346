//! Estimates durations with estimators that are retrained at the start of each week of a
//! simulation. They learn from the jobs that have ended in the simulation by then.
//!
//! The schedule up to any given moment depends only on the jobs submitted before that moment.
//! Therefore, for each week, the jobs submitted before it are simulated with the estimates known so
//! far. The jobs that ended in this simulation before the week began are the training data for the estimates of the
//! week's jobs. For example, all jobs of week 1 have the estimate [`Weekly::first`]. Week 2 learns from the jobs that
//! ended in week 1, and week 3 from a new simulation of weeks 1 and 2. Neither later events nor the job's own duration
//! can influence the estimate of a job.

use std::ops::Range;

use gleaner_learn::ebm::FitError;
use gleaner_learn::lucid::workload::{Estimator, EstimatorChoice, Job as Known, Learning, Past};
use serde::Serialize;

use super::{Calendar, known_jobs};
use gleaner_domain::Observer;
use gleaner_domain::inputs::EstimateTable;
use gleaner_domain::{Cluster, Trace};

/// Number of seconds in a week.
const WEEK: i64 = 7 * 24 * 3600;

/// Settings for weekly estimates.
#[derive(Debug, Clone, PartialEq)]
pub struct Weekly {
    /// The estimator, or the instruction to choose the best estimator each week.
    pub choice: EstimatorChoice,
    /// Settings for training the estimator.
    pub learning: Learning,
    /// The calendar of the trace.
    pub calendar: Calendar,
    /// The estimate, in seconds, for the jobs of the first week. It is also used for later weeks as long as no job has
    /// ended.
    pub first: f64,
}

/// Estimates of the durations of a trace's jobs under one policy.
#[derive(Debug, Clone, PartialEq)]
pub struct WeeklyEstimates {
    /// The estimates by job id.
    pub table: EstimateTable,
    /// The weeks for which an estimator was trained.
    pub weeks: Vec<Week>,
}

/// The estimator that was trained for a week's jobs, and the size of its training data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Week {
    /// Second at which the week begins.
    pub from: i64,
    /// Number of training jobs: the jobs that had ended before the week.
    pub learnt: usize,
    /// The estimator. If the best estimator was requested, this is the estimator that performed
    /// best on the last weeks of the training data.
    pub estimator: Estimator,
}

/// The source of the training data for estimates: a trace and its simulation.
#[derive(Clone, Copy)]
pub struct Simulated<'a, S> {
    /// The trace whose jobs are estimated.
    pub trace: &'a Trace,
    /// The cluster on which the jobs are simulated.
    pub cluster: &'a Cluster,
    /// Second at which the first week begins.
    pub start: i64,
    /// Simulates the first jobs of the trace with the given estimates. Returns the index and the
    /// end time of each job that ends.
    pub simulate: S,
    /// The observer, which can stop the training.
    pub observer: &'a dyn Observer,
}

impl Weekly {
    /// Estimates the duration of each job from the jobs that had ended, in a simulation, before the
    /// job's week. If the training is stopped, the remaining jobs keep [`Weekly::first`].
    ///
    /// # Errors
    /// The simulation fails, or an estimator cannot be trained.
    pub fn estimates<S, E>(&self, of: &Simulated<'_, S>) -> Result<WeeklyEstimates, E>
    where
        S: Fn(&Trace, &EstimateTable) -> Result<Vec<(usize, i64)>, E>,
        E: From<FitError>,
    {
        let trace = of.trace;
        let known = known_jobs(trace, of.cluster, self.calendar);
        let id = |job: usize| trace.jobs[job].id.clone();
        let first = (0..known.len()).map(|job| (id(job), self.first));
        let mut estimates = WeeklyEstimates {
            table: EstimateTable(first.collect()),
            weeks: Vec::new(),
        };
        for Jobs { from, jobs } in weeks(trace, of.start) {
            let ends = (of.simulate)(&submitted_before(trace, from), &estimates.table)?;
            let ends = ends.into_iter().filter(|&(_, end)| end < from);
            let past: Vec<Past<'_>> = ends
                .map(|(job, end)| past_job(&known, trace, job, end))
                .collect();
            if past.is_empty() {
                continue;
            }
            let fitted = self.choice.fit(&past, &self.learning, of.observer.stop());
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

/// The jobs of a week, as indices into the trace.
pub(super) struct Jobs {
    /// Second at which the week begins.
    pub from: i64,
    pub jobs: Range<usize>,
}

/// The weeks in which jobs are submitted, except the first week, which begins at second `start`.
pub(super) fn weeks(trace: &Trace, start: i64) -> impl Iterator<Item = Jobs> {
    let place = |second: i64| trace.jobs.partition_point(|job| job.submit < second);
    let mut next = place(start.saturating_add(WEEK));
    std::iter::from_fn(move || {
        // The next week is the week of the first remaining job, so weeks without jobs are skipped.
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

/// Describes a job that has ended, as training data.
fn past_job<'t>(known: &[Known<'t>], trace: &Trace, job: usize, ended: i64) -> Past<'t> {
    Past {
        job: known[job].clone(),
        submitted: trace.jobs[job].submit,
        ended,
        seconds: trace.jobs[job].duration as f64,
    }
}
