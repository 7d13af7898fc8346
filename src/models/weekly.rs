//! Estimates of durations that are learnt anew each week of a simulation, from what has ended in
//! it by then.
//!
//! A schedule until some moment depends on the jobs submitted before that moment alone. So the
//! simulation until the start of a week, with the estimates known by then, tells which jobs have
//! ended; from these the estimates of that week's jobs are learnt, and so on. Nothing that
//! happens later, nor any job's own duration, can reach its estimate.

use gleaner_models::ebm::FitError;
use gleaner_models::lucid::workload::{Job as Known, Options, WorkloadModel};

use super::{Calendar, known_jobs};
use crate::domain::Trace;
use crate::lucid::inputs::EstimateTable;
use crate::lucid::simulate::SimulateError;
use crate::lucid::{Control, Request, Simulation, simulate};

/// Seconds of a week.
const WEEK: i64 = 7 * 24 * 3600;

/// How estimates are learnt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weekly {
    /// What from.
    pub options: Options,
    /// Of the bags' rows.
    pub seed: u64,
    /// Civil time of the trace.
    pub calendar: Calendar,
    /// The estimate of every job while none has ended, in seconds.
    pub first: f64,
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
    /// Estimates of all jobs as a policy would have them; of those that an interrupt cut off,
    /// [`Weekly::first`].
    ///
    /// # Errors
    /// As [`simulate()`].
    pub fn estimates(
        &self,
        simulation: &Simulation<'_>,
        request: &Request,
        control: Control<'_>,
    ) -> Result<EstimateTable, WeeklyError> {
        let trace = simulation.trace;
        let known = known_jobs(trace, simulation.cluster, self.calendar);
        let id = |job: usize| trace.jobs[job].id.clone();
        let mut estimates =
            EstimateTable((0..known.len()).map(|job| (id(job), self.first)).collect());
        let last = trace.jobs.last().map_or(simulation.start, |job| job.submit);
        let mut week = simulation.start.saturating_add(WEEK);
        while week <= last {
            let (now, next) = (week, week.saturating_add(WEEK));
            let jobs = submitted(trace, now)..submitted(trace, next);
            week = next;
            // Nobody asks in a week without jobs.
            if jobs.is_empty() {
                continue;
            }
            let past = submitted_before(trace, now);
            let ended = ended_before(now, simulation, &past, &estimates, request, control)?;
            if let Some(model) = self.learn(&known, trace, &ended)? {
                let seconds = model.predict(&known[jobs.clone()]);
                estimates.0.extend(jobs.map(id).zip(seconds));
            }
        }
        Ok(estimates)
    }

    fn learn(
        &self,
        known: &[Known<'_>],
        trace: &Trace,
        ended: &[usize],
    ) -> Result<Option<WorkloadModel>, FitError> {
        if ended.is_empty() {
            return Ok(None);
        }
        let jobs: Vec<Known<'_>> = ended.iter().map(|&job| known[job].clone()).collect();
        let seconds = ended.iter().map(|&job| trace.jobs[job].duration as f64);
        let seconds: Vec<f64> = seconds.collect();
        let settings = self.options.settings(self.seed);
        WorkloadModel::fit(&jobs, &seconds, self.options, &settings).map(Some)
    }
}

/// How many jobs are submitted before a second.
fn submitted(trace: &Trace, second: i64) -> usize {
    trace.jobs.partition_point(|job| job.submit < second)
}

fn submitted_before(trace: &Trace, second: i64) -> Trace {
    Trace {
        jobs: trace.jobs[..submitted(trace, second)].to_vec(),
        workloads: trace.workloads.clone(),
        origin: trace.origin,
        known: trace.known.clone(),
    }
}

/// The jobs that have ended before `second`, in a simulation of those submitted until then.
fn ended_before(
    second: i64,
    simulation: &Simulation<'_>,
    past: &Trace,
    estimates: &EstimateTable,
    request: &Request,
    control: Control<'_>,
) -> Result<Vec<usize>, SimulateError> {
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
    Ok(ended.map(|finished| finished.job).collect())
}
