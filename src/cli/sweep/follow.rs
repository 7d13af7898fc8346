//! Submits a sweep to Slurm and follows its jobs.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::collect::{Next, Who, advance, open};
use super::{Args, remark, slurm};
use crate::cli::interrupt;
use crate::cli::progress::Progress;
use crate::sweep::opened::Opened;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::words::counted;
use gleaner_runs::run::RunDir;
use gleaner_store::{Store, Tracker};
use gleaner_sweep::cluster::slurm::{Queue, Submission, submit};
use gleaner_sweep::cluster::{Batch, BatchFolder, Deal, State};

/// Maximum interval between two queries to the queue, in seconds, unless the minimum interval is longer.
const LONGEST: f64 = 60.0;

/// Factor by which the interval grows after each query. By default, the intervals are 10, 15, 22.5 s and so on.
const GROWTH: f64 = 1.5;

/// Interval between checks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(100);

/// Submits the missing runs, follows their jobs, and writes the tables.
pub(super) fn run(opened: &Opened<'_>, args: &Args, out: &Path) -> Result<()> {
    let stop = interrupt::flag();
    RunDir::share(out, "sweep", args)?;
    let is_left = submit_missing(opened, args, out)?;
    if args.batch.detaches() && is_left {
        remark(&[format!(
            "the jobs keep running, and one of them collects the results; `gleaner sweep {} --out \
             {} --status` shows the progress",
            args.plan.display(),
            out.display()
        )]);
        return Ok(());
    }
    loop {
        if is_left {
            follow(opened, args, out, stop)?;
        }
        if advance(opened, args, out, Who::Follower)? == Next::Written {
            return Ok(());
        }
    }
}

/// Submits the missing runs that no waiting or running job will execute. Returns whether any runs are missing.
fn submit_missing(opened: &Opened<'_>, args: &Args, out: &Path) -> Result<bool> {
    // The lock on the directory is held until all runs have been submitted, so that no other process submits the same
    // runs.
    let _directory = open(out, args)?;
    let prepared = opened.prepared.as_ref();
    let state = State::of(prepared, &opened.glance(&Store::at(out))?);
    if state.missing.is_empty() {
        return Ok(false);
    }
    let batches = BatchFolder::at(out);
    let all = batches.all()?;
    let queue = Queue::ask(&all)?;
    let mut covered = BTreeSet::new();
    for batch in all.iter().filter(|batch| queue.of(batch).is_some()) {
        covered.extend(Deal::read(&batches.deal(&batch.name), prepared)?.runs());
    }
    let runs: Vec<usize> = state
        .missing
        .iter()
        .copied()
        .filter(|run| !covered.contains(run))
        .collect();
    if runs.is_empty() {
        remark(&["all missing runs are in jobs that are already waiting or running".to_owned()]);
        return Ok(true);
    }
    let batch = submit(
        &batches,
        &Submission {
            prepared,
            runs: &runs,
            costs: &state.costs,
            options: &args.batch.options(),
            call: &slurm::call(args, out)?,
            after: None,
            round: 0,
        },
    )?;
    remark(&[format!(
        "submitted {} in {}: batch {}, jobs {}",
        counted(runs.len(), "run"),
        counted(batch.parts, "task"),
        batch.name,
        batch.jobs.join(", ")
    )]);
    Ok(true)
}

/// Waits until no job of the sweep is left in the queue.
///
/// # Errors
/// [`Error::Interrupted`] after Ctrl-C; the jobs keep running.
fn follow(opened: &Opened<'_>, args: &Args, out: &Path, stop: &AtomicBool) -> Result<()> {
    let mut watch = Watch::new(opened, out, args)?;
    let shortest = args.batch.interval();
    let mut interval = shortest;
    loop {
        let next = Instant::now() + Duration::from_secs_f64(interval);
        while Instant::now() < next {
            if stop.load(Ordering::Relaxed) {
                watch.progress.finish();
                remark(&[format!(
                    "the jobs keep running; `gleaner sweep {} --out {} --slurm` follows them \
                     again, and --status shows the progress",
                    args.plan.display(),
                    out.display()
                )]);
                return Err(Error::Interrupted);
            }
            thread::sleep(LOOK);
        }
        let is_done = watch.update()?;
        if watch.is_over()? {
            watch.progress.finish();
            return Ok(());
        }
        interval = if is_done {
            shortest
        } else {
            (interval * GROWTH).min(LONGEST.max(shortest))
        };
    }
}

/// The state of a sweep whose jobs are followed.
struct Watch<'a> {
    opened: &'a Opened<'a>,
    store: Store,
    batches: BatchFolder,
    /// Batches that have left the queue.
    gone: BTreeSet<String>,
    tracker: Tracker,
    progress: Progress,
    /// Whether the user has been warned that the queue does not respond.
    is_silent: bool,
    /// The reasons why jobs wait for an action of their owner; empty if no job does.
    held: String,
}

impl<'a> Watch<'a> {
    fn new(opened: &'a Opened<'a>, out: &Path, args: &Args) -> Result<Self> {
        let store = Store::at(out);
        let mut tracker = Tracker::default();
        tracker.update(&store)?;
        Ok(Watch {
            opened,
            store,
            batches: BatchFolder::at(out),
            gone: BTreeSet::new(),
            tracker,
            progress: Progress::new(args.quiet),
            is_silent: false,
            held: String::new(),
        })
    }

    /// Shows the number of finished runs. Returns true once every run is done or has failed, so that the sweep only
    /// waits for its jobs to end.
    fn update(&mut self) -> Result<bool> {
        self.tracker.update(&self.store)?;
        let prepared = self.opened.prepared.as_ref();
        let keys = (0..prepared.count()).map(|run| prepared.key(run));
        let (mut done, mut failed) = (0, 0);
        for key in keys {
            done += usize::from(self.tracker.is_done(&key));
            failed += usize::from(self.tracker.has_failed(&key));
        }
        self.progress.update(done, prepared.count());
        let failed_runs = (failed > 0).then(|| format!("{failed} failed"));
        let held = (!self.held.is_empty()).then(|| format!("jobs wait: {}", self.held));
        let words: Vec<String> = [failed_runs, held].into_iter().flatten().collect();
        if !words.is_empty() {
            self.progress.say(&words.join(", "));
        }
        Ok(done + failed == prepared.count())
    }

    /// Whether no job of the sweep is left in the queue. The jobs of all batches are queried in a single call.
    fn is_over(&mut self) -> Result<bool> {
        let all = self.batches.all()?;
        let is_known = |batch: &&Batch| !self.gone.contains(&batch.name);
        let known: Vec<&Batch> = all.iter().filter(is_known).collect();
        let queue = match Queue::ask(known.iter().copied()) {
            Ok(queue) => queue,
            Err(error @ Error::Usage(_)) => return Err(error),
            Err(error) => {
                if !self.is_silent {
                    remark(&[format!("{error}; retrying")]);
                }
                self.is_silent = true;
                return Ok(false);
            }
        };
        self.is_silent = false;
        let held = known.iter().filter_map(|batch| queue.of(batch)?.held);
        self.held = held.max().unwrap_or_default();
        let gone = known.iter().filter(|batch| queue.of(batch).is_none());
        let gone: Vec<String> = gone.map(|batch| batch.name.clone()).collect();
        self.gone.extend(gone);
        // The last job may have submitted other jobs before it ended.
        let now = self.batches.all()?;
        Ok(now.iter().all(|batch| self.gone.contains(&batch.name)))
    }
}
