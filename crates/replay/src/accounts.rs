//! The account of one task while it is active, and after.

use gleaner_core::domain::objective::{Constants, Objective, TaskState};
use gleaner_core::domain::{Time, TrainingTask};

use super::nodes::NodeSet;
use gleaner_core::results::replay::TaskRow;

/// An active task.
#[derive(Debug)]
pub(super) struct Active {
    /// Index in file order.
    pub task: u32,
    /// Nodes it holds.
    pub held: NodeSet,
    /// Work per second since the last decision.
    pub rate: f64,
    /// Cost of the rescale decided at the last event, charged at the next one.
    pub pending_cost: f64,
    /// Work done since the last event, less costs.
    pub progress: f64,
    /// Whether a node left it at this event.
    pub preempted: bool,
    /// Seconds for which it held nodes.
    pub running_seconds: f64,
    /// What the objective needs of its curve.
    pub constants: Constants,
}

impl Active {
    /// The task with this index, as it becomes active under an objective.
    pub fn new(index: u32, task: &TrainingTask, objective: &Objective) -> Self {
        Active {
            task: index,
            held: NodeSet::default(),
            rate: 0.0,
            pending_cost: 0.0,
            progress: 0.0,
            preempted: false,
            running_seconds: 0.0,
            constants: objective.constants(task),
        }
    }

    /// How far the task is at `now`, by its account.
    pub fn state(&self, task: &TrainingTask, account: &TaskRow, now: Time) -> TaskState {
        let done = account.work_done.max(0.0);
        let since = now.seconds_since(account.submit);
        TaskState {
            done,
            left: task.work - done,
            waited: (since - self.running_seconds).max(0.0),
            deadline: task.seconds_to_deadline(now),
        }
    }
}

/// Direction in which a task was rescaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rescale {
    Up,
    Down,
}

/// An empty account for a task of a replay that starts at `start`.
pub(super) fn open(task: &TrainingTask, start: Time) -> TaskRow {
    TaskRow {
        name: task.name.clone(),
        submit: task.submit.max(start),
        start: None,
        end: None,
        work: task.work,
        work_done: 0.0,
        active_seconds: 0.0,
        node_seconds: 0.0,
        rescales_up: 0,
        rescales_down: 0,
        preemptions: 0,
        lost_up: 0.0,
        lost_down: 0.0,
        lost_preempted: 0.0,
        normalised_progress: None,
        deadline: task.deadline,
    }
}

/// Books a rescale that costs `seconds` of progress.
pub(super) fn book_rescale(row: &mut TaskRow, way: Rescale, seconds: f64) {
    match way {
        Rescale::Up => {
            row.rescales_up += 1;
            row.lost_up += seconds;
        }
        Rescale::Down => {
            row.rescales_down += 1;
            row.lost_down += seconds;
        }
    }
}
