//! The tasks and their runs.

use std::collections::BTreeMap;

use gleaner_domain::{TrainingTask, Utc};
use serde::{Deserialize, Serialize};

use super::learn::{Learner, Place};
use super::{Loss, Millis, PilotId, RecordedCurve, RunId, Settings, Submission};

/// The state of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TaskState {
    /// The allocator has not admitted the task yet.
    Waiting,
    /// The allocator can assign nodes to the task.
    Active,
    /// The task has done its work.
    Finished,
    /// The task's runs failed repeatedly. The text is the reason.
    Failed(String),
    /// A user cancelled the task.
    Cancelled,
}

impl TaskState {
    /// The state's name for users.
    pub fn name(&self) -> &'static str {
        match self {
            TaskState::Waiting => "waiting",
            TaskState::Active => "active",
            TaskState::Finished => "finished",
            TaskState::Failed(_) => "failed",
            TaskState::Cancelled => "cancelled",
        }
    }

    /// Whether the task will never run again.
    pub fn is_over(&self) -> bool {
        !matches!(self, TaskState::Waiting | TaskState::Active)
    }
}

/// A submitted task, with its state and its current run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Task {
    pub submission: Submission,
    /// The task as it was passed to the allocator. Snapshots omit it, because it can be derived from the submission.
    #[serde(skip, default = "not_derived")]
    pub training: TrainingTask,
    /// Indices of the task's groups.
    pub groups: Vec<usize>,
    pub state: TaskState,
    /// Number of runs so far.
    pub generation: u32,
    pub run: Option<Run>,
    /// Work done, as last reported.
    pub done: f64,
    /// The largest amount of work that any run has reported; for a trial's task, at least the work done on the lower
    /// rungs.
    pub best: f64,
    /// The loss after the most work in the last run that reported a loss.
    pub loss: Option<MeasuredLoss>,
    /// Number of failed runs in a row, without progress.
    pub failures: u32,
    /// Time before which the task is not started again after a failed run.
    pub not_before: Option<Millis>,
    /// The last run, if it failed and the task has not been started since.
    pub failed: Option<FailedRun>,
    pub learner: Learner,
    /// The last curve that was passed to the allocator for each class, in the order in which these curves were passed.
    pub measured: Vec<RecordedCurve>,
}

impl Task {
    pub fn new(submission: Submission, training: TrainingTask, groups: Vec<usize>) -> Self {
        // A trial's task starts with the work that the trial has done on the lower rungs.
        let done = submission.trial.as_ref().map_or(0.0, |trial| trial.done);
        Task {
            submission,
            training,
            groups,
            state: TaskState::Waiting,
            generation: 0,
            run: None,
            done,
            best: done,
            loss: None,
            failures: 0,
            not_before: None,
            failed: None,
            learner: Learner::default(),
            measured: Vec::new(),
        }
    }

    /// Records a curve that was passed to the allocator. It replaces the earlier curve of the same class.
    pub fn keep_measured(&mut self, measured: &RecordedCurve) {
        self.measured.retain(|known| known.class != measured.class);
        self.measured.push(measured.clone());
    }

    /// Records a loss, unless the same run has already reported a loss after more work. Each node of a run has its own
    /// connection, so a report from one node can arrive after a later report from another node.
    pub fn measure(&mut self, measured: MeasuredLoss) {
        let is_late = self.loss.is_some_and(|known| {
            known.generation == measured.generation && known.done > measured.done
        });
        if !is_late {
            self.loss = Some(measured);
        }
    }

    /// Whether all work is done according to the last report, so the task need not run any more. Always `false` for a
    /// trial: it may still have to measure its loss, so it ends only when its program ends.
    pub fn has_done_work(&self) -> bool {
        let is_trial = self.submission.trial.is_some();
        !is_trial && self.submission.work.is_some_and(|work| self.done >= work)
    }

    /// The task's run, if its id is `id`.
    pub fn run_with(&mut self, id: RunId) -> Option<&mut Run> {
        let is_current = self.generation == id.generation;
        self.run.as_mut().filter(|_| is_current)
    }
}

/// A placeholder until the task is derived from its submission.
fn not_derived() -> TrainingTask {
    Submission::default().training_task(Utc::from_seconds(0))
}

/// A loss that a task has reported.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct MeasuredLoss {
    pub loss: Loss,
    /// Number of the run that reported the loss.
    pub generation: u32,
    /// Work that the task had done when it reported the loss.
    pub done: f64,
}

/// A run that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FailedRun {
    pub time: Millis,
    pub nodes: Vec<u32>,
}

/// The reason why a run is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Why {
    /// Its nodes change.
    Nodes,
    /// Its work is done.
    Work,
    /// One of its ranks failed.
    Failure,
    /// The task is over, for example because a user cancelled it, or the daemon is stopping.
    End,
}

/// A request to stop a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stopping {
    pub since: Millis,
    pub why: Why,
    /// Whether the run has been killed.
    pub is_killed: bool,
    /// Whether the run is killed immediately, without time to write a checkpoint.
    pub at_once: bool,
}

/// The reason why a rank has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum End {
    /// The rank's program ended with this exit code; `None` if a signal ended the program or the program could not be
    /// started.
    Exited(Option<i32>),
    /// Its node was taken away.
    Taken,
    /// It was stopped because the run continues without its node.
    Removed,
}

/// A request to stop one rank while the rest of the run continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Removal {
    pub since: Millis,
    /// Whether the rank has been killed.
    pub is_killed: bool,
}

/// The part of a run on one node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Rank {
    pub pilot: PilotId,
    /// The request to stop this rank, if the run continues without it.
    pub removal: Option<Removal>,
    /// The end of the rank; `None` while its processes may be running.
    pub end: Option<End>,
}

/// A run of a task: one start of its program on a set of nodes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Run {
    /// The ranks by node index.
    pub ranks: BTreeMap<u32, Rank>,
    /// The nodes by rank number, including those on which the pilots start no rank. An elastic run keeps the order when
    /// its nodes change.
    pub nodes: Vec<u32>,
    pub stopping: Option<Stopping>,
    /// Whether a node was taken away from the run.
    pub lost_nodes: bool,
}

impl Rank {
    /// A rank that is about to be started.
    pub fn new(pilot: PilotId) -> Self {
        Rank {
            pilot,
            removal: None,
            end: None,
        }
    }

    /// Whether the rank was asked to stop at least `grace` milliseconds ago, has not been killed, and may still have
    /// running processes.
    fn is_overdue(&self, now: Millis, grace: Millis) -> bool {
        let is_late = |removal: Removal| !removal.is_killed && now >= removal.since + grace;
        self.end.is_none() && self.removal.is_some_and(is_late)
    }
}

impl Run {
    /// Whether ranks must be killed because the grace period of the whole run, or of a rank that is being removed, is
    /// over.
    pub fn is_overdue(&self, now: Millis, grace: Millis) -> bool {
        let is_late = |stop: Stopping| !stop.is_killed && now >= stop.since + grace;
        self.stopping.map_or_else(
            || self.ranks.values().any(|rank| rank.is_overdue(now, grace)),
            is_late,
        )
    }

    /// Marks the ranks whose grace period is over as killed, and returns their pilots.
    pub fn kill_removed(&mut self, now: Millis, grace: Millis) -> Vec<PilotId> {
        let ranks = self.ranks.values_mut();
        let overdue = ranks.filter(|rank| rank.is_overdue(now, grace));
        let killed = overdue.map(|rank| {
            rank.removal = rank.removal.map(|removal| Removal {
                is_killed: true,
                ..removal
            });
            rank.pilot
        });
        killed.collect()
    }

    /// Whether all ranks have ended.
    pub fn is_over(&self) -> bool {
        self.ranks.values().all(|rank| rank.end.is_some())
    }

    /// The class and the number of the run's nodes. All nodes of a run are of one class.
    pub fn place(&self, settings: &Settings) -> Place {
        let first = self.nodes.first();
        Place {
            class: first.map_or(0, |node| settings.class_of(*node)),
            nodes: self.nodes.len() as u32,
        }
    }

    /// The nodes by rank number, without those that were taken away.
    pub fn live_nodes(&self) -> impl Iterator<Item = u32> {
        let is_taken = |node: &u32| {
            let rank = self.ranks.get(node);
            rank.is_some_and(|rank| rank.end == Some(End::Taken))
        };
        let nodes = self.nodes.iter().copied();
        nodes.filter(move |node| !is_taken(node))
    }

    /// Whether processes of the run may be running on a node. On a node without a rank, a rank on another node may have
    /// started them.
    pub fn occupies(&self, node: u32) -> bool {
        match self.ranks.get(&node) {
            Some(rank) => rank.end.is_none(),
            None => self.nodes.contains(&node) && !self.is_over(),
        }
    }

    /// Number of nodes on which processes of the run may be running.
    pub fn occupied(&self) -> usize {
        let with_ranks = self.ranks.keys();
        let others = self.nodes.iter();
        let others = others.filter(|node| !self.ranks.contains_key(node));
        let nodes = with_ranks.chain(others);
        nodes.filter(|node| self.occupies(**node)).count()
    }

    /// Whether the program ended by itself and reported success on all nodes that were not removed from the run.
    pub fn succeeded(&self) -> bool {
        let is_success =
            |rank: &Rank| matches!(rank.end, Some(End::Exited(Some(0)) | End::Removed));
        let any_exited = |rank: &Rank| rank.end == Some(End::Exited(Some(0)));
        self.stopping.is_none()
            && self.ranks.values().all(is_success)
            && self.ranks.values().any(any_exited)
    }
}
