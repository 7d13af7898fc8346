//! The account of one task, while it is active and afterwards.

use gleaner_domain::results::replay::TaskRow;
use gleaner_domain::{TrainingTask, Utc};

use crate::allocator::{Resize, ResizeKind};

/// The ledger's record of an active task.
#[derive(Debug)]
pub(super) struct Active {
    /// Index of the task.
    pub task: u32,
    /// Number of nodes that the task holds.
    pub held: u32,
    /// The class of the nodes that the task holds or, if it holds none, last held; 0 if it never held nodes.
    pub class: usize,
    /// Work per second since the last decision.
    pub rate: f64,
    /// Cost of the rescale that was decided at the last event. It is charged at the next event.
    pub pending_cost: f64,
    /// Accounts of the task for the time since the last event.
    pub spell: Spell,
    /// Whether any of the task's nodes left at the current event.
    pub preempted: bool,
}

impl Active {
    /// Creates the record of a task that becomes active.
    pub fn new(task: u32) -> Self {
        Active {
            task,
            held: 0,
            class: 0,
            rate: 0.0,
            pending_cost: 0.0,
            spell: Spell::default(),
            preempted: false,
        }
    }

    /// Charges the task for a change of its nodes. A move to another class counts as growth in the task's account.
    pub fn charge(&mut self, resize: &Resize, task: &TrainingTask, account: &mut TaskRow) {
        let (grows, seconds) = match resize.kind() {
            ResizeKind::Moved => (true, task.move_seconds()),
            ResizeKind::Started | ResizeKind::Grown => (true, task.rescale_up),
            ResizeKind::Shrunk | ResizeKind::Stopped => (false, task.rescale_down),
        };
        self.pending_cost = task.progress_in(resize.class_before, resize.before) * seconds;
        // A task that made no progress before the rescale loses nothing.
        let lost = if self.pending_cost > 0.0 {
            seconds
        } else {
            0.0
        };
        if grows {
            account.rescales_up += 1;
            account.lost_up += lost;
        } else {
            account.rescales_down += 1;
            account.lost_down += lost;
        }
    }

    /// Seconds until the task finishes if nothing changes; `None` if it would never finish.
    pub fn seconds_left(&self, account: &TaskRow) -> Option<f64> {
        if self.rate <= 0.0 {
            return None;
        }
        let left = account.work - account.work_done + self.pending_cost;
        // Times have a resolution of one nanosecond, so at least one nanosecond must pass for the
        // replay to advance.
        let seconds = (left / self.rate).max(1e-9);
        seconds.is_finite().then_some(seconds)
    }
}

/// Creates an empty account for `task` in a replay that starts at `start`.
pub(super) fn open(task: &TrainingTask, start: Utc) -> TaskRow {
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
        before_completion_node_seconds: 0.0,
        after_completion_node_seconds: 0.0,
        below_minimum_node_seconds: 0.0,
        gross_work: 0.0,
        rescale_loss: 0.0,
        preemption_loss: 0.0,
        after_completion_work: 0.0,
    }
}

/// The node-time and work accounts for the time between two events, for one task or for all tasks:
///
/// - node-time: used = before completion + after completion + below the minimum,
/// - work: gross = useful + rescaling + preemption + after completion.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spell {
    /// Node-seconds that tasks held.
    pub used: f64,
    /// Part of `used`: node-seconds after the task's completion.
    pub after_completion: f64,
    /// Part of `used`: node-seconds on too few nodes to run.
    pub below_minimum: f64,
    /// Gross work: rate × time.
    pub gross_work: f64,
    /// Work lost to the rescale decided at the previous event.
    pub rescale_loss: f64,
    /// Work lost because nodes left.
    pub preemption_loss: f64,
    /// Gross work after the task's completion: rate × time.
    pub after_completion_work: f64,
}

impl Spell {
    /// The accounts of an active task that spends `seconds` in its current state.
    pub fn of(active: &Active, task: &TrainingTask, seconds: f64) -> Self {
        let held = active.held;
        let used = seconds * f64::from(held);
        Spell {
            used,
            below_minimum: if task.min_nodes_in(active.class).is_none_or(|min| held < min) {
                used
            } else {
                0.0
            },
            gross_work: seconds * active.rate,
            rescale_loss: active.pending_cost,
            ..Spell::default()
        }
    }

    /// Useful work: gross work minus the losses and the work after completion.
    pub fn progress(&self) -> f64 {
        self.gross_work - self.rescale_loss - self.preemption_loss - self.after_completion_work
    }

    /// Node-seconds of running tasks before their completion.
    pub fn before_completion(&self) -> f64 {
        self.used - self.after_completion - self.below_minimum
    }

    /// Books `overshoot`, the work beyond the task's total, as work after its completion. Books the
    /// corresponding share of the node-time as node-time after the completion. Rounding of completion
    /// times can make the overshoot slightly negative.
    pub fn complete(&mut self, overshoot: f64) {
        self.after_completion_work = overshoot;
        if self.gross_work > 0.0 {
            self.after_completion = self.used * (overshoot / self.gross_work);
        }
    }

    /// Adds the accounts of another task for the same period.
    pub fn add(&mut self, other: &Spell) {
        self.used += other.used;
        self.after_completion += other.after_completion;
        self.below_minimum += other.below_minimum;
        self.gross_work += other.gross_work;
        self.rescale_loss += other.rescale_loss;
        self.preemption_loss += other.preemption_loss;
        self.after_completion_work += other.after_completion_work;
    }

    /// Adds these accounts to the task's row.
    pub fn book(&self, row: &mut TaskRow) {
        row.before_completion_node_seconds += self.before_completion();
        row.after_completion_node_seconds += self.after_completion;
        row.below_minimum_node_seconds += self.below_minimum;
        row.gross_work += self.gross_work;
        row.rescale_loss += self.rescale_loss;
        row.preemption_loss += self.preemption_loss;
        row.after_completion_work += self.after_completion_work;
    }
}
