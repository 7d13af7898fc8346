//! Elastic training tasks.

use super::{ScalingCurve, Time};

/// The text that stands for the work of an endless task in files.
pub const ENDLESS: &str = "endless";

/// Most tasks of a replay, over all rounds in which they are submitted.
pub const MAX_TASKS: usize = 1_000_000;

/// An elastic training task.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingTask {
    /// Name, unique within the set.
    pub name: String,
    /// Time from which the task may run; [`TrainingTask::FROM_START`] if its file names no time.
    pub submit: Time,
    /// Fewest nodes it runs on (at least 1).
    pub min_nodes: u32,
    /// Most nodes it can use.
    pub max_nodes: u32,
    /// Seconds of progress lost when it grows.
    pub rescale_up: f64,
    /// Seconds of progress lost when it shrinks or is preempted.
    pub rescale_down: f64,
    /// Total work until it is done, in the curve's units; infinite for an endless task.
    pub work: f64,
    /// Its weight under the objective `priority-weighted` (above 0, usually 1).
    pub priority: f64,
    /// Its speed by number of nodes.
    pub curve: ScalingCurve,
}

impl TrainingTask {
    /// Submission of a task without a time: before every log's first event.
    pub const FROM_START: Time = Time(i64::MIN);

    /// Whether it never finishes.
    pub fn is_endless(&self) -> bool {
        self.work == f64::INFINITY
    }
}
