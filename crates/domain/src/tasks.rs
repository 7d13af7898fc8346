//! Elastic training tasks.

use std::sync::Arc;

use gleaner_solvers::Task;

use super::{ClassTerms, Clock, ScalingCurve, Utc};

/// The word that files contain in place of the work of an endless task.
pub const ENDLESS: &str = "endless";

/// Maximum number of tasks in a replay, summed over all rounds of submission.
pub const MAX_TASKS: usize = 1_000_000;

/// An elastic training task.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingTask {
    /// Name, unique within the set.
    pub name: String,
    /// Time of submission, from which the task is allowed to run; [`TrainingTask::FROM_START`] if
    /// the task's file states no time.
    pub submit: Utc,
    /// Minimum number of nodes that the task needs to run (at least 1).
    pub min_nodes: u32,
    /// Maximum number of nodes that the task can use.
    pub max_nodes: u32,
    /// Seconds of progress lost when the task grows, or starts at the first event of a log. Later starts are free.
    pub rescale_up: f64,
    /// Seconds of progress lost when the task shrinks, stops or is preempted, including the time to start again.
    pub rescale_down: f64,
    /// Total work of the task, in the curve's units; infinite for an endless task.
    pub work: f64,
    /// Weight of the task under the objective `priority-weighted`, above 0; default in task files: 1.
    pub priority: f64,
    /// Time by which the task should be finished; `None` if it has no deadline. Only objectives take the deadline into
    /// account.
    pub deadline: Option<Utc>,
    /// Rung of the task if it is a trial of a search; 0 otherwise.
    pub rung: u32,
    /// Speed of the task by number of nodes.
    pub curve: ScalingCurve,
    /// The task's terms by class of nodes: its bounds, curves and cost of moves.
    pub classes: ClassTerms,
}

impl TrainingTask {
    /// Submission time of a task whose file states no time. It is earlier than the first event of any log.
    pub const FROM_START: Utc = Utc(i64::MIN);

    /// Whether the task never finishes.
    pub fn is_endless(&self) -> bool {
        self.work == f64::INFINITY
    }

    /// The task with its times as result tables show them, for a log with this clock: see
    /// [`EventLog::as_in_tables`](super::EventLog::as_in_tables).
    pub fn as_in_tables(mut self, clock: &Clock) -> Self {
        for time in [&mut self.submit].into_iter().chain(&mut self.deadline) {
            *time = clock.steady(*time).from_offset(0);
        }
        self
    }

    /// Work per second on `nodes` nodes; 0 if these are fewer than the task needs to run.
    pub fn rate(&self, nodes: u32) -> f64 {
        if nodes >= self.min_nodes {
            self.curve.progress_at(nodes)
        } else {
            0.0
        }
    }

    /// Seconds from `now` to the task's deadline: negative after the deadline, infinite without a
    /// deadline.
    pub fn seconds_to_deadline(&self, now: Utc) -> f64 {
        self.deadline
            .map_or(f64::INFINITY, |deadline| deadline.seconds_since(now))
    }

    /// The task as the input of a solver that maximises progress. It holds no nodes and rescales at
    /// no cost.
    pub fn as_solved(&self) -> Task {
        Task {
            name: String::new(),
            min_nodes: self.min_nodes,
            max_nodes: self.max_nodes,
            rescale_up: 0.0,
            rescale_down: 0.0,
            curve_nodes: Arc::clone(&self.curve.nodes),
            curve_objective: self.curve.progress.clone(),
            weight: 1.0,
            current: 0,
        }
    }
}
