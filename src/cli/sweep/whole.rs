//! All runs that are missing, in this process.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::Args;
use super::opened::Opened;
use super::tables::{Finished, Results, Written};
use crate::cli::caller::Caller;
use crate::cli::progress::Progress;
use gleaner_core::error::{Error, Result};
use gleaner_core::results::run::Seconds;
use gleaner_core::results::sweep::RunOutcome;
use gleaner_core::words::counted;
use gleaner_formats::output::run::{End, RunDir};
use gleaner_store::{Store, Writer};
use gleaner_sweep::{Attempt, PreparedRuns, Stop, execute};

/// Does the runs that are missing, and writes the tables.
pub(super) fn run(opened: &Opened<'_>, args: &Args, out: &Path) -> Result<Written> {
    let clock = Instant::now();
    let directory = RunDir::open(out, "sweep", args)?;
    let prepared = opened.prepared.as_ref();
    let store = Store::at(directory.path());
    let mut found = opened.find::<RunOutcome>(&store)?;
    let mut results: Vec<Option<RunOutcome>> = (0..prepared.count())
        .map(|run| Some(found.results.remove(&prepared.key(run))?.result))
        .collect();
    let missing: Vec<usize> = (0..results.len())
        .filter(|&run| results[run].is_none())
        .collect();
    let found_done = results.len() - missing.len();
    let again = missing
        .iter()
        .filter(|&&run| found.begun.contains_key(&prepared.key(run)));
    let begun_again = found.begun_again() + again.count() as u64;
    if !missing.is_empty() {
        directory.begin(&opened.sources)?;
        let soon = AtomicBool::new(false);
        let stop = Stop {
            now: opened.caller.stop(),
            soon: &soon,
        };
        let attempts = attempt(prepared, &missing, &store.writer(None), stop, args.quiet)?;
        let mut failures = Vec::new();
        for (&run, attempt) in missing.iter().zip(attempts) {
            match attempt {
                Attempt::Done(result) => results[run] = Some(result),
                Attempt::Failed(error) => failures.push(error),
                Attempt::Stopped => {}
            }
        }
        fail(failures, opened.caller)?;
    }
    let compute = clock.elapsed().as_secs_f64();
    let results: Results = results.into_iter().collect();
    if results.is_empty() {
        let seconds = Seconds {
            read: opened.read,
            compute,
            write: 0.0,
        };
        let end = End {
            sources: &opened.sources,
            complete: false,
            seconds,
        };
        opened.caller.inform(&[directory.finish(&end)?]);
        return Err(Error::Interrupted);
    }
    let finished = Finished {
        opened,
        directory,
        found_done,
        begun_again,
        compute,
    };
    let written = finished.write(&results)?;
    if results.missing > 0 {
        return Err(Error::Interrupted);
    }
    Ok(written)
}

/// Does some runs, with a progress bar.
pub(super) fn attempt(
    prepared: &dyn PreparedRuns,
    runs: &[usize],
    writer: &Writer,
    stop: Stop<'_>,
    quiet: bool,
) -> Result<Vec<Attempt>> {
    let progress = Mutex::new(Progress::new(quiet));
    let update = |done, total| {
        if let Ok(mut progress) = progress.lock() {
            progress.update(done, total);
        }
    };
    let attempts = execute(prepared, runs, writer, stop, &update);
    if let Ok(progress) = progress.into_inner() {
        progress.finish();
    }
    attempts
}

/// The first failure, if there is one.
fn fail(failures: Vec<Error>, caller: &dyn Caller) -> Result<()> {
    let count = failures.len();
    let Some(first) = failures.into_iter().next() else {
        return Ok(());
    };
    if count > 1 {
        caller.remark(&[format!(
            "{} failed; this is the first of them",
            counted(count, "run")
        )]);
    }
    Err(first)
}
