//! Says how far a sweep is.

use std::path::Path;

use super::opened::Opened;
use super::report::report;
use super::{print, remark};
use gleaner_cluster::slurm::Queue;
use gleaner_cluster::{Batch, BatchFolder, Deal, State, Trouble, troubles};
use gleaner_core::error::Result;
use gleaner_core::words::{counted, duration};
use gleaner_store::Store;

/// Prints what is done, has failed and is missing, and what is in Slurm's queue.
pub(super) fn run(opened: &Opened<'_>, out: &Path) -> Result<()> {
    let prepared = opened.prepared.as_ref();
    let found = opened.glance(&Store::at(out))?;
    let state = State::of(prepared, &found);
    let batches = BatchFolder::at(out);
    let all = batches.all()?;
    let queue = Queue::ask(&all);
    let mut text = format!(
        "runs     {}\ndone     {}\nfailed   {}\nmissing  {}\n",
        prepared.count(),
        state.done,
        state.failed.len(),
        state.missing.len() - state.failed.len()
    );
    if state.begun_again > 0 {
        text += &format!("begun again  {}\n", state.begun_again);
    }
    if state.costs.are_seconds() && !state.missing.is_empty() {
        let costs = state
            .missing
            .iter()
            .map(|&run| state.costs.of_run(prepared, run));
        text += &format!("left     about {} of one core\n", duration(costs.sum()));
    }
    let mut wrong: Vec<Trouble> = Vec::new();
    match queue {
        Err(error) => remark(&[format!("the queue is not known: {error}")]),
        Ok(queue) => {
            for batch in &all {
                match queue.of(batch) {
                    Some(jobs) => {
                        text += &format!(
                            "batch    {}: {}, {} waiting\n",
                            batch.name,
                            counted(jobs.running, "running job"),
                            jobs.waiting
                        );
                        if let Some(why) = jobs.held {
                            text += &format!("         some wait until you do something: {why}\n");
                        }
                    }
                    None => {
                        let deal = Deal::read(&batches.deal(&batch.name), prepared);
                        wrong.extend(
                            deal.iter()
                                .flat_map(|deal| troubles(&state, &found, &batches, batch, deal)),
                        );
                    }
                }
            }
        }
    }
    // What a later batch does is no trouble of an earlier one.
    let last = latest(&all);
    wrong.retain(|trouble| Some(&trouble.name.batch) == last.as_ref());
    for line in report(prepared, &state, &wrong) {
        text += &format!("{line}\n");
    }
    print(&text)
}

/// The name of the youngest batch.
fn latest(all: &[Batch]) -> Option<String> {
    all.last().map(|batch| batch.name.clone())
}
