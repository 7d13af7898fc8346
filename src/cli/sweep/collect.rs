//! Writes the tables if all runs are done. Otherwise resubmits lost runs, or reports the missing runs.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::report::report;
use super::{Args, remark, slurm};
use crate::sweep::opened::Opened;
use crate::sweep::tables::{Finished, Results};
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::sweep::RunOutcome;
use gleaner_domain::words::counted;
use gleaner_runs::run::RunDir;
use gleaner_store::{Found, Store};
use gleaner_sweep::cluster::slurm::{Queue, Submission, submit};
use gleaner_sweep::cluster::{Batch, BatchFolder, Deal, State, Trouble, troubles};

/// Maximum time to wait while another process writes to the directory.
const PATIENCE: Duration = Duration::from_secs(60);

/// The outcome of an attempt to collect the results.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    /// The tables are written.
    Written,
    /// Lost runs were resubmitted.
    Submitted,
    /// Nothing was done, because other jobs of the sweep are still in the queue.
    Wait,
}

/// The caller that collects the results.
#[derive(Debug, Clone, Copy)]
pub(super) enum Who<'a> {
    /// A user, who expects the tables or a list of the missing runs.
    User,
    /// The collecting job of a batch, which also resubmits lost runs.
    Job(&'a str),
    /// The command that submitted the jobs and followed them until they ended. It does the work of the collecting job.
    Follower,
}

/// Collects the results, either for a user or as the collecting job of a batch.
///
/// # Errors
/// The directory is missing, or [`advance`] fails.
pub(super) fn run(opened: &Opened<'_>, args: &Args, out: &Path) -> Result<()> {
    // Without this check, a missing directory would be created although there is nothing to collect.
    fs::metadata(out).map_err(|error| Error::io("collect from", out, error))?;
    let who = args.batch.batch.as_deref().map_or(Who::User, Who::Job);
    advance(opened, args, out, who).map(drop)
}

/// Writes the tables if all runs are done. Otherwise resubmits the lost runs of the last batch, unless a user requested
/// the collection.
///
/// # Errors
/// Runs are missing and are not resubmitted. The error states the reason.
pub(super) fn advance(opened: &Opened<'_>, args: &Args, out: &Path, who: Who<'_>) -> Result<Next> {
    let clock = Instant::now();
    let directory = open(out, args)?;
    let prepared = opened.prepared.as_ref();
    let mut found = opened.find::<RunOutcome>(&Store::at(out))?;
    let state = State::of(prepared, &found);
    let is_partial = args.partial && state.done > 0;
    if state.missing.is_empty() || is_partial {
        let result = |run| Some(found.results.remove(&prepared.key(run))?.result);
        let results: Results = (0..prepared.count()).map(result).collect();
        let finished = Finished {
            opened,
            directory,
            found_done: state.done,
            begun_again: state.begun_again,
            compute: clock.elapsed().as_secs_f64(),
        };
        super::show(&finished.write(&results)?, args)?;
        return Ok(Next::Written);
    }
    let all = BatchFolder::at(out).all()?;
    let own = match who {
        Who::Job(name) => all.iter().find(|batch| batch.name == name),
        Who::User | Who::Follower => None,
    };
    let batch = match who {
        Who::User => None,
        Who::Job(_) => own,
        Who::Follower => all.last(),
    };
    let Some(batch) = batch else {
        return Err(missing(opened, args, out, &state, &[]));
    };
    let others = all
        .iter()
        .filter(|other| own.is_none_or(|own| own.name != other.name));
    let others: Vec<&Batch> = others.collect();
    let queue = Queue::ask(others.iter().copied())?;
    if others.iter().any(|other| queue.of(other).is_some()) {
        remark(&["other jobs of the sweep are in the queue".to_owned()]);
        return Ok(Next::Wait);
    }
    again(opened, args, out, &state, &found, batch)
}

/// Resubmits the lost runs of a batch and of the batches before it.
fn again(
    opened: &Opened<'_>,
    args: &Args,
    out: &Path,
    state: &State,
    found: &Found<RunOutcome>,
    batch: &Batch,
) -> Result<Next> {
    let prepared = opened.prepared.as_ref();
    let batches = BatchFolder::at(out);
    let mut hopeless = Vec::new();
    for name in &batch.earlier {
        let found = troubles_of(opened, state, found, &batches, name)?.1;
        hopeless.extend(found.into_iter().filter(Trouble::is_final));
    }
    let (deal, own) = troubles_of(opened, state, found, &batches, &batch.name)?;
    // Tasks that executed some runs and stopped because their time limit was near do not count as failures.
    let missing_of = deal
        .runs()
        .filter(|run| state.missing.binary_search(run).is_ok());
    let has_done = missing_of.count() < deal.runs().count();
    let is_orderly = has_done && own.iter().all(Trouble::is_orderly);
    let round = batch.round + u32::from(!is_orderly);
    let wrong: Vec<Trouble> = hopeless.into_iter().chain(own).collect();
    let left = state.left_of(batch, &deal, &wrong);
    if left.is_empty() || round > batch.options.retries {
        return Err(missing(opened, args, out, state, &wrong));
    }
    let next = submit(
        &batches,
        &Submission {
            prepared,
            runs: &left,
            costs: &state.costs,
            options: &batch.options,
            call: &slurm::call(args, out)?,
            after: Some(batch),
            round,
        },
    )?;
    let why = if is_orderly {
        "remain from tasks whose time limit was near".to_owned()
    } else {
        format!("were lost (attempt {round} of {})", batch.options.retries)
    };
    remark(&[format!(
        "{} {why}; submitted again: batch {}",
        counted(left.len(), "run"),
        next.name
    )]);
    Ok(Next::Submitted)
}

/// The assignment of a batch's runs to parts, and the parts that have unfinished runs.
fn troubles_of(
    opened: &Opened<'_>,
    state: &State,
    found: &Found<RunOutcome>,
    batches: &BatchFolder,
    name: &str,
) -> Result<(Deal, Vec<Trouble>)> {
    let deal = Deal::read(&batches.deal(name), opened.prepared.as_ref())?;
    let troubles = troubles(state, found, batches, &batches.read(name)?, &deal);
    Ok((deal, troubles))
}

/// The error for a sweep that has unfinished runs.
fn missing(
    opened: &Opened<'_>,
    args: &Args,
    out: &Path,
    state: &State,
    wrong: &[Trouble],
) -> Error {
    let prepared = opened.prepared.as_ref();
    let failed = state.failed.len();
    let mut lines = vec![format!(
        "{} of {} are not done, of which {failed} failed; the tables need all runs",
        state.missing.len(),
        counted(prepared.count(), "run")
    )];
    lines.extend(report(prepared, state, wrong));
    let (plan, out) = (args.plan.display(), out.display());
    lines.push(format!(
        "gleaner sweep {plan} --out {out} executes the missing runs here, or with --slurm on the cluster; \
         --status shows the progress"
    ));
    Error::Run(lines.join("\n  "))
}

/// Opens the directory. If another process is writing to it, waits for up to [`PATIENCE`].
pub(super) fn open(out: &Path, args: &Args) -> Result<RunDir> {
    let clock = Instant::now();
    loop {
        match RunDir::open(out, "sweep", args) {
            Err(Error::Run(_)) if clock.elapsed() < PATIENCE => {
                thread::sleep(Duration::from_millis(500));
            }
            opened => return opened,
        }
    }
}
