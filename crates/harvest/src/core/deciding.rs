//! Informs the allocator of what has happened since the last decision, and records its decision.

use std::collections::BTreeSet;

use gleaner_domain::error::{Error, Result};
use gleaner_domain::{Change, TaskGroup, TrainingTask, Utc};
use gleaner_replay::Decider;
use gleaner_replay::allocator::{Batch, Measured, Progress, Reallocation, Resize, Stage};
use serde::{Deserialize, Serialize};

use super::decision::{Capture, KeptDecision};
use super::learn::Measurement;
use super::{Core, Curve, GroupSubmission, Millis, Submission, Task, TaskState};
use crate::status::DecisionStatus;
use gleaner_domain::words::counted;

/// Number of recent decisions that the status shows.
const SHOWN: usize = 20;

/// A batch as the allocator received it, with the decision. The batches of a harvest, in order, are its recording.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// Time in seconds since 1970.
    pub second: i64,
    /// Index of each node that joined (true) or left (false).
    pub nodes: Vec<(u32, bool)>,
    /// Index of each active task, and the work that it has done; empty if the allocator does not use progress.
    pub progress: Vec<(u32, f64)>,
    /// Newly measured curves and costs.
    pub measured: Vec<RecordedCurve>,
    /// Indices of the tasks that ended.
    pub finished: Vec<u32>,
    /// Tasks that were submitted.
    pub submitted: Vec<Submission>,
    /// Groups of the submitted tasks. Each group lists only members that are in this batch, so it is repeated if a
    /// later batch adds members.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupSubmission>,
    /// The decision; `None` if there was nothing to decide.
    pub decision: Option<KeptDecision>,
}

/// A measured curve with costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedCurve {
    /// Index of the task.
    pub task: u32,
    /// Index of the class of nodes that the curve applies to; 0 if all nodes are interchangeable.
    #[serde(default)]
    pub class: usize,
    /// The curve.
    pub curve: Curve,
    /// Seconds of progress lost when the task grows.
    pub rescale_up: f64,
    /// Seconds of progress lost when the task shrinks.
    pub rescale_down: f64,
    /// Seconds of progress lost when the task moves to another class, if this was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub move_cost: Option<f64>,
}

impl RecordedCurve {
    fn of(task: u32, measured: &Measurement) -> Self {
        RecordedCurve {
            task,
            class: measured.class,
            curve: (&measured.curve).into(),
            rescale_up: measured.rescale_up,
            rescale_down: measured.rescale_down,
            move_cost: measured.move_cost,
        }
    }

    /// The curve and the costs as the allocator receives them.
    pub(super) fn measured(&self) -> Measured {
        Measured {
            task: self.task,
            class: self.class,
            curve: (&self.curve).into(),
            rescale_up: self.rescale_up,
            rescale_down: self.rescale_down,
            move_cost: self.move_cost,
        }
    }
}

/// The data from which a [`Batch`] borrows.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub nodes: Vec<Change>,
    pub progress: Vec<Progress>,
    pub measured: Vec<Measured>,
    pub finished: Vec<u32>,
    pub submitted: Vec<TrainingTask>,
    pub groups: Vec<TaskGroup>,
}

impl Parts {
    /// The batch for event number `event`, at `second` seconds since 1970.
    pub fn batch(&self, event: usize, second: i64) -> Batch<'_> {
        Batch {
            nodes: &self.nodes,
            progress: &self.progress,
            measured: &self.measured,
            finished: &self.finished,
            submitted: &self.submitted,
            groups: &self.groups,
            ..Batch::at(event, Utc::from_seconds(second))
        }
    }
}

/// Converts a recorded batch to the data of a [`Batch`].
pub(crate) fn parts_of(recorded: &Recorded) -> Parts {
    let now = Utc::from_seconds(recorded.second);
    let nodes = recorded
        .nodes
        .iter()
        .map(|&(node, idle)| Change::new(node, idle));
    let progress = recorded
        .progress
        .iter()
        .map(|&(task, done)| Progress { task, done });
    let measured = recorded.measured.iter().map(RecordedCurve::measured);
    let submitted = recorded
        .submitted
        .iter()
        .map(|task| task.training_task(now));
    Parts {
        nodes: nodes.collect(),
        progress: progress.collect(),
        measured: measured.collect(),
        finished: recorded.finished.clone(),
        submitted: submitted.collect(),
        groups: recorded
            .groups
            .iter()
            .map(GroupSubmission::task_group)
            .collect(),
    }
}

impl Core {
    /// Whether a decision is due at `now`, because there is news for the allocator or because a search can add tasks.
    pub(super) fn must_decide(&self, now: Millis) -> bool {
        self.has_news(now) || self.may_start_trials()
    }

    /// Whether there is news for the allocator at `now`. New measurements alone count only once [`MEASURED_WAIT_S`]
    /// seconds have passed since the last decision.
    fn has_news(&self, now: Millis) -> bool {
        let is_measured = || {
            let active = self
                .tasks
                .iter()
                .filter(|task| task.state == TaskState::Active);
            let mut learners = active.map(|task| &task.learner);
            learners.any(|learner| learner.has_news())
        };
        !self.finished.is_empty()
            || (self.unknown as usize) < self.tasks.len()
            || self.idle != *self.pilots.available()
            || (now.div_euclid(1000) >= self.decided + MEASURED_WAIT_S && is_measured())
    }

    /// Adds the tasks of trials that can start, passes the news to the allocator, and records the allocator's decision.
    ///
    /// # Errors
    /// The decider fails, or the allocator rejects the batch, which would be a fault of this module.
    pub(super) fn decide(&mut self, decider: &mut dyn Decider) -> Result<()> {
        self.start_trials();
        if !self.has_news(self.now) {
            return Ok(());
        }
        let second = self.now.div_euclid(1000).max(self.decided);
        self.decided = second;
        let mut recorded = self.batch(second);
        let parts = parts_of(&recorded);
        let mut capture = Capture::of(decider);
        let event = self.batches;
        let change = self
            .allocator
            .advance(&parts.batch(event, second), &mut capture)
            .map_err(Error::from)?;
        recorded.decision = capture.kept;
        self.batches += 1;
        for measured in &recorded.measured {
            self.tasks[measured.task as usize].keep_measured(measured);
        }
        self.idle.clone_from(self.pilots.available());
        self.unknown = self.tasks.len() as u32;
        self.finished.clear();
        self.admit(&change);
        self.explain(&recorded, &change);
        self.recorded.push(recorded);
        Ok(())
    }

    /// Collects the changes since the last decision.
    fn batch(&mut self, second: i64) -> Recorded {
        let available: &BTreeSet<u32> = self.pilots.available();
        let joined = available.difference(&self.idle).map(|node| (*node, true));
        let left = self.idle.difference(available).map(|node| (*node, false));
        let nodes = left.chain(joined).collect();
        let is_active = |task: &u32| self.allocator.stage(*task) == Some(Stage::Active);
        let active: Vec<u32> = (0..self.unknown).filter(is_active).collect();
        let uses_progress = self.allocator.uses_progress();
        let progress = active.iter().filter(|_| uses_progress);
        let progress = progress.map(|&task| (task, self.tasks[task as usize].done));
        let progress: Vec<(u32, f64)> = progress.collect();
        let mut measured = Vec::new();
        for &task in &active {
            let Task {
                training, learner, ..
            } = &mut self.tasks[task as usize];
            for found in learner.measured(training) {
                // Nonsensical reports must not lead to a curve that the allocator rejects.
                if self.settings.faults(&[found.applied(training)]).is_empty() {
                    measured.push(RecordedCurve::of(task, &found));
                }
            }
        }
        let new = &self.tasks[self.unknown as usize..];
        Recorded {
            second,
            nodes,
            progress,
            measured,
            finished: self.finished.iter().copied().collect(),
            submitted: new.iter().map(|task| task.submission.clone()).collect(),
            groups: self.groups_of(new),
            decision: None,
        }
    }

    /// Marks the admitted tasks as active. A task that was cancelled while it waited is reported to the allocator as
    /// finished at the next decision.
    fn admit(&mut self, change: &Reallocation) {
        for &index in &change.admitted {
            let task = &mut self.tasks[index as usize];
            if task.state == TaskState::Waiting {
                task.state = TaskState::Active;
            } else {
                self.finished.insert(index);
            }
        }
    }

    /// Formats a change of a task's nodes, such as "2 to 4 nodes", or "2 v100 to 4 a100 nodes" if there are classes.
    fn resized(&self, resize: &Resize) -> String {
        let class = |index: usize| {
            let name = self.settings.classes.get(index);
            name.map_or(String::new(), |name| format!(" {name}"))
        };
        let (before, after) = (resize.before, resize.after);
        let is_moved = resize.class_before != resize.class_after;
        let from = class(resize.class_before);
        let from = if is_moved { from } else { String::new() };
        format!(
            "{before}{from} to {after}{} nodes",
            class(resize.class_after)
        )
    }

    /// Records a decision and the reasons for it, for the status that users see.
    fn explain(&mut self, recorded: &Recorded, change: &Reallocation) {
        let joined = recorded.nodes.iter().filter(|(_, idle)| *idle).count();
        let reasons = [
            (joined, "node", "joined"),
            (recorded.nodes.len() - joined, "node", "left"),
            (recorded.submitted.len(), "task", "submitted"),
            (recorded.finished.len(), "task", "ended"),
            (recorded.measured.len(), "curve", "measured"),
        ];
        let reasons = reasons.iter().filter(|(count, ..)| *count > 0);
        let why: Vec<String> = reasons
            .map(|(count, what, how)| format!("{} {how}", counted(*count, what)))
            .collect();
        let changes = change.resized.iter().map(|resize| {
            let name = self.task_name(resize.task);
            format!("{name}: {}", self.resized(resize))
        });
        let shown = DecisionStatus {
            time: recorded.second,
            why: why.join(", "),
            changes: changes.collect(),
        };
        self.decisions.insert(0, shown);
        self.decisions.truncate(SHOWN);
    }
}

/// Minimum number of seconds after a decision before new measurements alone lead to another decision.
const MEASURED_WAIT_S: i64 = 10;
