//! Checks that the tables of a replay agree with each other, with the log and with the tasks.
//!
//! The allocations record which task held which node, and when. Together with the log and the
//! tasks, the allocations are enough to recompute the accounts event by event. The accounts cover
//! progress, preemptions, rescale costs, completions, rounds and the decisions of a search. Every
//! row of the tables and every field of `summary.json` must agree with these accounts. Values that
//! cannot be recomputed are listed as not verified.
//!
//! Some results cannot be recomputed from the tables. The allocation of the last decision has no duration, so the last
//! row of `steps` is only partly verified. If several events have the same time, the verification ends, because the
//! effect of each event is unknown.

use super::Findings;
use gleaner_domain::Observer;
use gleaner_domain::error::Result;
use gleaner_domain::results::classes::ClassOutcome;
use gleaner_domain::results::replay::{AllocationRow, DelayRow, StepRow, Summary, TaskRow};
use gleaner_domain::results::search::SearchOutcome;
use gleaner_domain::{EventLog, NodeClasses, TaskGroup, TrainingTask, TrialSearch};

mod classes;
mod delays;
mod edges;
mod fragments;
mod ledger;
mod minimums;
mod rates;
mod settings;
mod steps;
mod summary;
mod supply;
mod tasks;
mod timings;

pub use fragments::fragments;
pub use settings::{Chosen, settings};
pub use timings::timings;

use edges::edges;
use ledger::Ledger;

/// The inputs of a replay.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    /// The slice of the log that is replayed.
    pub log: &'a EventLog,
    /// The tasks of the task file.
    pub set: &'a [TrainingTask],
    /// Node limits of groups of tasks.
    pub groups: &'a [TaskGroup],
    /// The search that trains the tasks, with the algorithm that was used; `None` without a search.
    pub search: Option<&'a TrialSearch>,
    /// Seed of the replay.
    pub seed: u64,
    /// Whether the tasks are resubmitted in rounds.
    pub repeat: bool,
    /// The node classes that the solver distinguishes; `None` if it distinguishes none.
    pub classes: Option<&'a NodeClasses>,
    /// Minimum length of idle fragments in seconds: shorter fragments were ignored. `None` if no
    /// fragments were ignored.
    pub min_fragment: Option<f64>,
}

/// The results of a replay.
#[derive(Debug, Clone, Copy)]
pub struct Written<'a> {
    /// Rows of `steps`.
    pub steps: &'a [StepRow],
    /// Rows of `tasks`.
    pub tasks: &'a [TaskRow],
    /// Rows of `allocations`, which refer to `tasks` and `nodes` by index.
    pub allocations: &'a [AllocationRow],
    /// Names of the nodes in `allocations`.
    pub nodes: &'a [String],
    /// The class of each node in `nodes`; `None` if the log has only one class.
    pub class_of_node: Option<&'a [String]>,
    /// Rows of `delays`; `None` if the replay did not count the delays of batch jobs.
    pub delays: Option<&'a [DelayRow]>,
    /// Rows of `classes`, `moves` and `class_totals`; `None` if the log has only one class.
    pub classes: Option<&'a ClassOutcome>,
    /// Content of `summary.json`.
    pub summary: &'a Summary,
    /// Rows of `search`, `trials` and `rungs`; `None` if no search trained the tasks.
    pub search: Option<&'a SearchOutcome>,
}

/// Verifies the results of a replay. Progress is reported to the observer as the number of steps
/// verified so far.
///
/// # Errors
/// [`Error::Stopped`](gleaner_domain::Error::Stopped) if the check is stopped.
pub fn replay(
    inputs: &Inputs<'_>,
    written: &Written<'_>,
    observer: &dyn Observer,
) -> Result<Findings> {
    let mut findings = Findings::default();
    let Some(edges) = edges(inputs.log, written, &mut findings) else {
        return Ok(findings);
    };
    let one = [String::new()];
    let names = inputs.classes.map_or(&one[..], NodeClasses::names);
    let set: Vec<TrainingTask> = inputs
        .set
        .iter()
        .map(|task| task.in_classes(names))
        .collect();
    let placed = Inputs {
        set: &set,
        ..*inputs
    };
    let mut ledger = Ledger::new(&placed, written, edges);
    if ledger.follow(observer, &mut findings)? {
        ledger.compare_tasks(&mut findings);
        ledger.compare_search(&mut findings);
        ledger.compare_class_totals(&mut findings);
        ledger.compare_summary(&mut findings);
        delays::delays(inputs, written, &mut findings);
    }
    Ok(findings)
}
