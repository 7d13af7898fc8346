//! Reports the progress of a sweep.

use std::path::Path;

use super::report::report;
use super::{print, remark};
use crate::sweep::opened::Opened;
use gleaner_domain::error::Result;
use gleaner_domain::words::{counted, duration};
use gleaner_store::{Found, Store};
use gleaner_sweep::PreparedRuns;
use gleaner_sweep::cluster::slurm::Queue;
use gleaner_sweep::cluster::{Batch, BatchFolder, Deal, State, Trouble, troubles};
use serde::de::IgnoredAny;

/// Prints which runs are done, failed or missing, and which jobs are in Slurm's queue.
pub(super) fn run(opened: &Opened<'_>, out: &Path) -> Result<()> {
    let prepared = opened.prepared.as_ref();
    let found = opened.glance(&Store::at(out))?;
    let state = State::of(prepared, &found);
    let batches = BatchFolder::at(out);
    let (all, broken) = batches.survey()?;
    let mut text = counts(prepared, &state);
    let mut wrong = Vec::new();
    match Queue::ask(&all) {
        Err(error) => remark(&[format!("cannot query the queue: {error}")]),
        Ok(queue) => {
            all.iter().for_each(|batch| text += &queued(&queue, batch));
            // A later batch takes over the unfinished runs of earlier batches that have left the queue, so usually only
            // the last batch has unfinished runs.
            let ended = all.last().filter(|last| queue.of(last).is_none());
            wrong = ended.map_or_else(Vec::new, |last| {
                troubles_of(prepared, &state, &found, &batches, last)
            });
        }
    }
    for batch in broken {
        let (name, error) = (batch.name, batch.error);
        text += &format!("batch {name}: its jobs are unknown: {error}\n");
    }
    for line in report(prepared, &state, &wrong) {
        text += &format!("{line}\n");
    }
    print(&text)
}

/// Formats the numbers of finished, failed, missing and running runs, and the estimated time for the
/// remaining runs.
fn counts(prepared: &dyn PreparedRuns, state: &State) -> String {
    let mut text = format!(
        "runs     {}\ndone     {}\nfailed   {}\nmissing  {}\n",
        prepared.count(),
        state.done,
        state.failed.len(),
        state.missing.len() - state.failed.len() - state.running
    );
    if state.running > 0 {
        text += &format!("running  {}\n", state.running);
    }
    if state.begun_again > 0 {
        text += &format!("restarted {}\n", state.begun_again);
    }
    if state.costs.are_seconds() && !state.missing.is_empty() {
        let costs = state
            .missing
            .iter()
            .map(|&run| state.costs.of_run(prepared, run));
        text += &format!("left     about {} on one core\n", duration(costs.sum()));
    }
    text
}

/// Describes a batch's jobs in the queue. The text is empty if there are none.
fn queued(queue: &Queue, batch: &Batch) -> String {
    let Some(jobs) = queue.of(batch) else {
        return String::new();
    };
    let running = counted(jobs.running, "running job");
    let mut text = format!(
        "batch    {}: {running}, {} waiting\n",
        batch.name, jobs.waiting
    );
    if let Some(why) = jobs.held {
        text += &format!("         some jobs cannot start until you act: {why}\n");
    }
    text
}

/// The parts with unfinished runs, in a batch whose jobs have ended.
fn troubles_of(
    prepared: &dyn PreparedRuns,
    state: &State,
    found: &Found<IgnoredAny>,
    batches: &BatchFolder,
    batch: &Batch,
) -> Vec<Trouble> {
    match Deal::read(&batches.deal(&batch.name), prepared) {
        Ok(deal) => troubles(state, found, batches, batch, &deal),
        // The assignment was made for another plan and does not include these runs.
        Err(_) => Vec::new(),
    }
}
