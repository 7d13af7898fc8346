//! The results of a search in a replay: the outcomes of its trials.

use super::Named;
use crate::Utc;

/// What happened to a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrialEvent {
    /// It was started: its first training is among the active tasks.
    Started,
    /// It reached a rung, where its loss is measured.
    Reached,
    /// It goes on to this rung.
    Promoted,
    /// It has no further training.
    Stopped,
    /// It reached the last rung.
    Finished,
}

impl Named for TrialEvent {
    const ALL: &'static [Self] = &[
        TrialEvent::Started,
        TrialEvent::Reached,
        TrialEvent::Promoted,
        TrialEvent::Stopped,
        TrialEvent::Finished,
    ];

    fn name(self) -> &'static str {
        match self {
            TrialEvent::Started => "started",
            TrialEvent::Reached => "reached",
            TrialEvent::Promoted => "promoted",
            TrialEvent::Stopped => "stopped",
            TrialEvent::Finished => "finished",
        }
    }
}

/// The state of a trial when the replay ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialState {
    /// It reached the last rung.
    Finished,
    /// It was stopped below the last rung.
    Stopped,
    /// It trains.
    Training,
    /// It waits for other trials of its rung.
    Waiting,
}

impl Named for TrialState {
    const ALL: &'static [Self] = &[
        TrialState::Finished,
        TrialState::Stopped,
        TrialState::Training,
        TrialState::Waiting,
    ];

    fn name(self) -> &'static str {
        match self {
            TrialState::Finished => "finished",
            TrialState::Stopped => "stopped",
            TrialState::Training => "training",
            TrialState::Waiting => "waiting",
        }
    }
}

record! {
    /// Something that happened in a search: a row of `search`, in the order of time.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct SearchRow {
        /// time of the event
        time: Utc = "time" ["time"],
        /// `started`; `reached` a rung; `promoted` to a rung; `stopped`; `finished`: reached the last
        /// rung
        event: TrialEvent = "event" [""],
        /// number of the trial, from 0
        trial: u32 = "trial" [""],
        /// rung that it starts towards, reached or is promoted to, from 0
        rung: u32 = "rung" [""],
        /// resource of that rung, as in the task file
        resource: f64 = "resource" ["resource"],
        /// loss measured there; empty except for `reached`, and empty if training diverged
        loss: Option<f64> = "loss" ["loss"],
    }
}

record! {
    /// A trial: a row of `trials`, in the order of their numbers.
    #[derive(Debug, Clone, PartialEq)]
    pub struct TrialRow {
        /// number of the trial, from 0
        trial: u32 = "trial" [""],
        /// task of the task file that it trains
        task: String = "task" [""],
        /// bracket in which it competes with other trials (hyperband); 0 otherwise
        bracket: u32 = "bracket" [""],
        /// `finished`: reached the last rung; `stopped`; `training` or `waiting` for its rung's other
        /// trials, when the replay ended
        state: TrialState = "state" [""],
        /// time at which it was started
        start: Utc = "start" ["time"],
        /// time at which it reached its highest rung; empty if it reached none
        end: Option<Utc> = "end" ["time"],
        /// resource of that rung; 0 if it reached none
        resource: f64 = "resource" ["resource"],
        /// loss measured there; empty if no loss was measured or training diverged
        loss: Option<f64> = "loss" ["loss"],
        /// noise-free loss that the trial would have at the last rung; empty if training diverges
        final_loss: f64 as Finite = "final_loss" ["loss"],
        /// work done for it
        work_done: f64 = "work_done" ["work"],
    }
}

record! {
    /// The trials that reached a resource: a row of `rungs`, ascending.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct RungRow {
        /// resource at which losses are measured
        resource: f64 = "resource" ["resource"],
        /// number of trials that reached it
        trials: u64 = "trials" [""],
        /// time from the first event of the replay until the first trial reached it
        first_s: f64 = "first_s" ["s"],
        /// time from the first event of the replay until half of these trials had reached it
        median_s: f64 = "median_s" ["s"],
        /// lowest loss measured there; empty if all trials diverged
        best_loss: f64 as Finite = "best_loss" ["loss"],
    }
}

/// All results of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchOutcome {
    /// The events, in chronological order.
    pub events: Vec<SearchRow>,
    /// One row for each trial that was started.
    pub trials: Vec<TrialRow>,
    /// One row for each resource that a trial reached.
    pub rungs: Vec<RungRow>,
}

impl SearchOutcome {
    /// The trial with the least loss among those that reached the last rung; the first if several
    /// are equal.
    pub fn best(&self) -> Option<&TrialRow> {
        let finished = self
            .trials
            .iter()
            .filter(|t| t.state == TrialState::Finished);
        finished.min_by(|a, b| {
            let loss = |trial: &TrialRow| trial.loss.unwrap_or(f64::INFINITY);
            loss(a).total_cmp(&loss(b))
        })
    }
}
