//! The runs of a plan: what they need is read once, then any of them can be executed.

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
use gleaner_domain::results::sweep::RunOutcome;
use gleaner_io::SourceId;
use gleaner_runs::sweep::SweepRun;
use gleaner_store::{RunKey, Writer};

use crate::plan::Plan;
use replay::Replays;
use simulate::Simulations;

/// Runs with everything they need in memory. Any of them can be executed at any time. They are
/// numbered from 0, in the plan's order.
pub trait PreparedRuns: Sync {
    /// Number of runs.
    fn count(&self) -> usize;

    /// The key of a run: its result is known by it.
    fn key(&self, run: usize) -> RunKey;

    /// The settings of a run as JSON.
    ///
    /// # Errors
    /// None in practice: settings can be serialised.
    fn settings(&self, run: usize) -> Result<Value>;

    /// Every file read.
    fn sources(&self) -> &[SourceId];

    /// The most steps that a run takes.
    fn length(&self, run: usize) -> usize;

    /// Which runs are likely to take as long as this one.
    fn alike(&self, run: usize) -> Alike;

    /// Executes the run. Returns its result, or `None` if it was stopped.
    ///
    /// # Errors
    /// The run fails.
    fn execute(&self, run: usize, observer: &dyn Observer) -> Result<Option<RunOutcome>>;
}

/// Numbers that are equal in runs that are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alike {
    /// Equal in runs that differ in the seed only.
    pub same_but_seed: u64,
    /// Equal in runs on the same inputs that decide in the same way.
    pub same_problem: u64,
}

/// Reads and checks everything that the plan names.
///
/// # Errors
/// Faults of the files, and settings that do not fit them.
pub fn prepare(plan: Plan, observer: &dyn Observer) -> Result<Box<dyn PreparedRuns>> {
    Ok(match plan {
        Plan::Replay(plan) => Box::new(Replays::prepare(*plan, observer)?),
        Plan::Simulate(plan) => Box::new(Simulations::prepare(*plan, observer)?),
    })
}

/// A run as the tables have it.
///
/// # Errors
/// As [`PreparedRuns::settings`].
pub fn sweep_run(prepared: &dyn PreparedRuns, run: usize) -> Result<SweepRun> {
    Ok(SweepRun {
        key: prepared.key(run).to_string(),
        settings: prepared.settings(run)?,
    })
}

/// What became of a run.
#[derive(Debug)]
pub enum Attempt {
    /// It is done, and its result is kept.
    Done(RunOutcome),
    /// It failed, which is noted.
    Failed(Error),
    /// It was stopped, or not begun.
    Stopped,
}

/// Executes some runs in parallel, and keeps each result as soon as it is there. If a run fails, the others are
/// still executed. The observer's flag stops runs in progress; `soon` only prevents further runs from starting.
/// Returns the outcome of each run.
///
/// # Errors
/// A result cannot be kept. The runs under way end, and no other is begun.
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
            // A replay may end before its log does.
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
    // Whichever thread is free takes the next run, so that runs begin in their order, which may be by
    // their length.
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

/// The key of the run whose result depends on `decisive` and the program's version.
fn sweep_key(decisive: &impl Serialize) -> Result<RunKey> {
    RunKey::of_json(&(env!("CARGO_PKG_VERSION"), decisive))
}

/// Settings as JSON.
fn settings_value(settings: &impl Serialize) -> Result<Value> {
    serde_json::to_value(settings).map_err(|error| Error::Run(error.to_string()))
}
