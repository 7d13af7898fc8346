//! The runs of a plan: what they need is read once, then any of them can be executed.

mod replay;
mod simulate;
mod solvers;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::prelude::*;
use serde::Serialize;

use gleaner_core::error::{Error, Result};
use gleaner_core::results::sweep::RunOutcome;
use gleaner_formats::ingest::{Digest, SourceId};
use gleaner_formats::output::sweep::{Store, SweepRun};
use gleaner_setup::Remark;

use crate::plan::Plan;
use replay::Replays;
use simulate::Simulations;

/// Runs with everything they need in memory. Any of them can be executed at any time.
pub trait PreparedRuns: Sync {
    /// The runs, in the plan's order.
    fn runs(&self) -> &[SweepRun];

    /// Every file read.
    fn sources(&self) -> &[SourceId];

    /// The most steps that the run takes.
    fn length(&self, index: usize) -> usize;

    /// Executes the run. Returns its result, or `None` if it was stopped. `tick` is called with
    /// the number of steps done since its last call.
    ///
    /// # Errors
    /// The run fails.
    fn execute(
        &self,
        index: usize,
        stop: &AtomicBool,
        tick: &(dyn Fn(usize) + Sync),
    ) -> Result<Option<RunOutcome>>;
}

/// Reads and checks everything that the plan names.
///
/// # Errors
/// Faults of the files, and settings that do not fit them.
pub fn prepare(plan: Plan, remark: Remark<'_>) -> Result<Box<dyn PreparedRuns>> {
    Ok(match plan {
        Plan::Replay(plan) => Box::new(Replays::prepare(plan, remark)?),
        Plan::Simulate(plan) => Box::new(Simulations::prepare(plan, remark)?),
    })
}

/// Executes the runs that have no result yet, in parallel, and stores each result as soon as it
/// is there. If a run fails, the others are executed all the same. `progress` is called with the
/// number of steps done and the number of all.
///
/// # Errors
/// The error of the first run that failed.
pub fn run_missing(
    prepared: &dyn PreparedRuns,
    store: &Store,
    results: &mut [Option<RunOutcome>],
    stop: &AtomicBool,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<()> {
    let missing = |index: &usize| results[*index].is_none();
    let missing: Vec<usize> = (0..results.len()).filter(missing).collect();
    let total = missing.iter().map(|&index| prepared.length(index)).sum();
    let done = AtomicUsize::new(0);
    let tick = |steps| progress(done.fetch_add(steps, Ordering::Relaxed) + steps, total);
    let run_one = |&index: &usize| {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let result = prepared.execute(index, stop, &tick)?;
        if let Some(result) = &result {
            store.save(&prepared.runs()[index], result)?;
        }
        Ok(result)
    };
    let found: Vec<Result<Option<RunOutcome>>> = missing.par_iter().map(run_one).collect();
    for (index, result) in missing.into_iter().zip(found) {
        results[index] = result?;
    }
    Ok(())
}

/// The run of these settings. Its key is a digest of the program's version and of `decisive`,
/// which must hold all that the result depends on.
///
/// # Errors
/// None in practice: settings can be serialised.
fn sweep_run(settings: &impl Serialize, decisive: &impl Serialize) -> Result<SweepRun> {
    const DIGITS: usize = 32;
    let failed = |e: serde_json::Error| Error::Run(e.to_string());
    let all = (env!("CARGO_PKG_VERSION"), decisive);
    let bytes = serde_json::to_vec(&all).map_err(failed)?;
    Ok(SweepRun {
        key: Digest::of(&bytes).to_string()[..DIGITS].to_owned(),
        settings: serde_json::to_value(settings).map_err(failed)?,
    })
}
