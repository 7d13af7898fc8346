//! Executes all missing runs in this process.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::opened::Opened;
use super::tables::{Finished, Results, Swept};
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::run::Seconds;
use gleaner_domain::results::sweep::RunOutcome;
use gleaner_domain::words::counted;
use gleaner_runs::run::{End, RunDir};
use gleaner_store::Store;
use gleaner_sweep::{Attempt, execute};
use serde::Serialize;

/// Executes the missing runs, and writes the tables.
pub(crate) fn run(opened: &Opened<'_>, arguments: &impl Serialize, out: &Path) -> Result<Swept> {
    let clock = Instant::now();
    let directory = RunDir::open(out, "sweep", arguments)?;
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
        let writer = store.writer(None);
        let attempts = execute(prepared, &missing, &writer, &soon, opened.observer)?;
        let mut failures = Vec::new();
        for (&run, attempt) in missing.iter().zip(attempts) {
            match attempt {
                Attempt::Done(result) => results[run] = Some(result),
                Attempt::Failed(error) => failures.push(error),
                Attempt::Stopped => {}
            }
        }
        fail(failures, opened.observer)?;
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
        opened.observer.inform(&[directory.finish(&end)?]);
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

/// Returns the first failure, if there is one, as an error. Reports the number of failures as a remark.
fn fail(failures: Vec<Error>, observer: &dyn Observer) -> Result<()> {
    let count = failures.len();
    let Some(first) = failures.into_iter().next() else {
        return Ok(());
    };
    if count > 1 {
        observer.remark(&[format!(
            "{} failed; the first error is shown below",
            counted(count, "run")
        )]);
    }
    Err(first)
}
