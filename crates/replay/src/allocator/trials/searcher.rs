//! The interface between a search and the tasks of a replay.

use gleaner_domain::TrainingTask;
use gleaner_search::{Job, Verdict};

/// A search whose trials are the tasks of a replay. It chooses the jobs, describes the training of each trial, and
/// supplies the trial's losses.
///
/// Searches in task files use the algorithms of [`gleaner_search`]. Implement this trait for any other search, and pass
/// it to [`run_with`](crate::run_with).
///
/// A method that cannot answer, for example because a user's function failed, returns `None`. The
/// implementation must then stop the replay through its [`Observer`](gleaner_domain::Observer).
pub trait Searcher {
    /// The name of the search in results.
    fn name(&self) -> String;

    /// The resource up to which the best trials are trained, above 0. The work of a task in the set is the work that a
    /// trial needs to reach this resource.
    fn max_resource(&self) -> f64;

    /// The next job; `None` if there is no job until another loss is reported. If no job is outstanding, `None` ends
    /// the search. Called whenever another task can become active. New trials are numbered from 0 in the order of their
    /// first jobs. The first job of a trial has rung 0, unless the trial has a parent.
    fn next(&mut self) -> Option<Job>;

    /// Describes the training of a new trial. Called once per trial, after [`Searcher::next`] has handed out its first
    /// job. `tasks` is the number of tasks in the set.
    fn describe(&mut self, trial: u32, tasks: usize) -> NewTrial;

    /// The names of the losses. Called after the first losses have been measured. Losses without a name are named by
    /// their numbers, which start at 0.
    fn loss_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// The losses after a job; `None` if there is no answer. Every job has the same number of losses, at least one. A
    /// loss that is not finite means that training diverged.
    fn losses(&mut self, job: &Job) -> Option<Vec<f64>>;

    /// Receives the losses of a job. Returns the decisions that are now certain, or `None` if there is no answer.
    fn report(&mut self, job: &Job, losses: &[f64]) -> Option<Vec<Verdict>>;

    /// The next job of a trial whose loss was just reported. The trial begins it immediately, on the nodes that it
    /// holds. `None` if the task of the trial ends.
    fn resume(&mut self, trial: u32) -> Option<Job>;

    /// The trials that have neither a job nor a final decision. They count as stopped when the search ends.
    fn unpromoted(&self) -> Vec<u32>;
}

/// The training of a new trial.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTrial {
    /// The index, in the set, of the task that the trial trains. The trial belongs to this task's groups.
    pub origin: u32,
    /// A task that describes the training instead of the task in the set; `None` to use the task in the set.
    pub task: Option<TrainingTask>,
    /// The hyperparameters as a JSON object; empty if the search has none.
    pub parameters: String,
    /// The trial from whose state the trial starts; `None` if it starts untrained.
    pub parent: Option<u32>,
    /// The first of the trial's losses at `max_resource`, without noise; NaN if it is unknown.
    pub final_loss: f64,
}
