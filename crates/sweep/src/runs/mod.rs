//! Prepares the runs of a plan: reads their inputs once, so that the runs can be executed in any order.

mod choices;
mod parts;
mod replay;
mod simulate;
mod solvers;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use rayon::prelude::*;
use serde::Serialize;
use serde_json::Value;

use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::observer::Parts;
use gleaner_domain::results::sweep::{Replication, RunOutcome};
use gleaner_io::SourceId;
use gleaner_runs::sweep::SweepRun;
use gleaner_store::{RunKey, Writer};

use crate::plan::Plan;
use replay::Replays;
use simulate::Simulations;

/// Runs whose inputs are all in memory. Any run can be executed at any time. Runs are numbered from 0 in the order of
/// the plan.
pub trait PreparedRuns: Sync {
    /// Number of runs.
    fn count(&self) -> usize;

    /// The key that identifies the result of a run.
    fn key(&self, run: usize) -> RunKey;

    /// The settings of a run as JSON.
    ///
    /// # Errors
    /// The settings cannot be serialised, which does not occur in practice.
    fn settings(&self, run: usize) -> Result<Value>;

    /// Every file that was read.
    fn sources(&self) -> &[SourceId];

    /// Maximum number of steps of the run.
    fn length(&self, run: usize) -> usize;

    /// Identifies the runs that are likely to take as long as the given run.
    fn alike(&self, run: usize) -> Alike;

    /// The kind of repetitions over which the sweep computes means and intervals.
    fn replication(&self) -> Replication;

    /// Executes the run. Returns its result, or `None` if the observer stopped it.
    ///
    /// # Errors
    /// The run fails.
    fn execute(&self, run: usize, observer: &dyn Observer) -> Result<Option<RunOutcome>>;
}

/// Numbers that identify similar runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alike {
    /// A number that is the same for runs that differ only in the seed.
    pub same_but_seed: u64,
    /// A number that is the same for runs with the same inputs and the same rules for decisions.
    pub same_problem: u64,
}

/// Reads and checks all inputs of the plan.
///
/// # Errors
/// A file has faults, or settings do not fit the files.
pub fn prepare(plan: Plan, observer: &dyn Observer) -> Result<Box<dyn PreparedRuns>> {
    Ok(match plan {
        Plan::Replay(plan) => Box::new(Replays::prepare(*plan, observer)?),
        Plan::Simulate(plan) => Box::new(Simulations::prepare(*plan, observer)?),
    })
}

/// A run as it appears in the tables.
///
/// # Errors
/// Same as [`PreparedRuns::settings`].
pub fn sweep_run(prepared: &dyn PreparedRuns, run: usize) -> Result<SweepRun> {
    Ok(SweepRun {
        key: prepared.key(run).to_string(),
        settings: prepared.settings(run)?,
    })
}

/// Outcome of an attempt to execute a run.
#[derive(Debug)]
pub enum Attempt {
    /// The run is done, and its result is stored.
    Done(RunOutcome),
    /// The run failed, and the failure is recorded.
    Failed(Error),
    /// The run was stopped or never started.
    Stopped,
}

/// Executes the given runs in parallel, and stores each result as soon as it is known. If a run fails, the other runs
/// are still executed. The observer's stop flag stops runs in progress, whereas `soon` only prevents further runs from
/// starting. Returns the outcome of each run.
///
/// # Errors
/// A result cannot be stored. In that case, no further runs are started, but runs in progress are finished.
pub fn execute(
    prepared: &dyn PreparedRuns,
    runs: &[usize],
    writer: &Writer,
    soon: &AtomicBool,
    observer: &dyn Observer,
) -> Result<Vec<Attempt>> {
    let total = runs.iter().map(|&run| prepared.length(run)).sum();
    let parts = Parts::new(observer, total);
    let broken = AtomicBool::new(false);
    let is_over = || {
        let flags = [soon, &broken];
        observer.is_stopped() || flags.iter().any(|flag| flag.load(Ordering::Relaxed))
    };
    let attempt = |run: usize| {
        if is_over() {
            return Ok(Attempt::Stopped);
        }
        let (key, clock) = (prepared.key(run), Instant::now());
        writer.begin(key)?;
        let part = parts.part(prepared.length(run));
        let executed = prepared.execute(run, &part);
        if let Ok(Some(_)) = executed {
            // A replay may stop before the end of its log, so the rest of the run's progress is reported here.
            part.complete();
        }
        Ok(match executed {
            Ok(None) => Attempt::Stopped,
            Ok(Some(result)) => {
                let seconds = clock.elapsed().as_secs_f64();
                writer.save(key, &prepared.settings(run)?, &result, seconds)?;
                Attempt::Done(result)
            }
            Err(error) => {
                writer.fail(key, &error)?;
                Attempt::Failed(error)
            }
        })
    };
    // Each free thread takes the next run, so runs start in the given order, which may be from the longest to the
    // shortest.
    let next = AtomicUsize::new(0);
    let attempts = runs.par_iter().map(|_| {
        let place = next.fetch_add(1, Ordering::Relaxed);
        let attempt = attempt(runs[place]);
        broken.fetch_or(attempt.is_err(), Ordering::Relaxed);
        attempt.map(|attempt| (place, attempt))
    });
    let attempts: Vec<Result<(usize, Attempt)>> = attempts.collect();
    writer.sync()?;
    let mut attempts: Vec<(usize, Attempt)> = attempts.into_iter().collect::<Result<_>>()?;
    attempts.sort_unstable_by_key(|(place, _)| *place);
    Ok(attempts.into_iter().map(|(_, attempt)| attempt).collect())
}

/// The key of a run whose result depends on `decisive` and the program's version.
fn sweep_key(decisive: &impl Serialize) -> Result<RunKey> {
    RunKey::of_json(&(env!("CARGO_PKG_VERSION"), decisive))
}

/// Converts settings to JSON.
fn settings_value(settings: &impl Serialize) -> Result<Value> {
    serde_json::to_value(settings).map_err(|error| Error::Run(error.to_string()))
}
