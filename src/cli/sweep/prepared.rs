//! What a sweep runs.

use std::sync::atomic::AtomicBool;

use serde::Serialize;

use gleaner_core::error::{Error, Result};
use gleaner_core::results::sweep::RunSummary;
use gleaner_formats::ingest::{Digest, SourceId};
use gleaner_formats::output::sweep::SweepRun;

/// Runs with everything they need in memory, any of which can be run at any time.
pub trait PreparedRuns: Sync {
    /// The runs, in the plan's order.
    fn runs(&self) -> &[SweepRun];

    /// Every file read.
    fn sources(&self) -> &[SourceId];

    /// How many steps the run takes, at the most.
    fn length(&self, index: usize) -> usize;

    /// Runs it; its summary, or `None` where it was stopped. `tick` hears of steps done.
    ///
    /// # Errors
    /// When the run fails.
    fn execute(
        &self,
        index: usize,
        stop: &AtomicBool,
        tick: &(dyn Fn(usize) + Sync),
    ) -> Result<Option<RunSummary>>;
}

/// The run of these settings: its key is a digest of `decisive`, which must hold all that
/// the result depends on, and of the program's version.
///
/// # Errors
/// Never in practice; the serialiser's words where it fails.
pub fn sweep_run(settings: &impl Serialize, decisive: &impl Serialize) -> Result<SweepRun> {
    const DIGITS: usize = 32;
    let failed = |e: serde_json::Error| Error::Run(e.to_string());
    let all = (env!("CARGO_PKG_VERSION"), decisive);
    let bytes = serde_json::to_vec(&all).map_err(failed)?;
    Ok(SweepRun {
        key: Digest::of(&bytes).to_string()[..DIGITS].to_owned(),
        settings: serde_json::to_value(settings).map_err(failed)?,
    })
}
