//! The results of a search in a replay: the outcomes of its trials.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{Cells, Column, Encoding, Named, Plain};
use crate::Utc;

/// The losses of a trial with their names, in the order in which the search declares them; empty if the search has only
/// one loss, or if no loss was measured. A loss that is not finite means that training diverged.
///
/// Tables contain the losses as a JSON object. Numbers that are not finite are written as `null`, which is read as
/// infinity.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Losses(pub Vec<(String, f64)>);

impl Losses {
    /// The values without their names.
    pub fn values(&self) -> Vec<f64> {
        self.0.iter().map(|(_, value)| *value).collect()
    }

    /// The losses as a JSON object; an empty string if there are none.
    pub fn to_json(&self) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        let fields = self.0.iter();
        let fields = fields.map(|(name, value)| (name.clone(), Value::from(*value)));
        Value::Object(fields.collect()).to_string()
    }

    /// Reads a JSON object of numbers; `None` if the text is anything else.
    pub fn from_json(text: &str) -> Option<Self> {
        let fields: Map<String, Value> = serde_json::from_str(text).ok()?;
        let number = |(name, value): (String, Value)| match value {
            Value::Null => Some((name, f64::INFINITY)),
            other => Some((name, other.as_f64()?)),
        };
        fields
            .into_iter()
            .map(number)
            .collect::<Option<_>>()
            .map(Losses)
    }
}

impl Encoding<Losses> for Plain {
    fn column<'a>(values: impl Iterator<Item = &'a Losses>) -> Column<'a> {
        Column::Texts(values.map(|losses| Cow::Owned(losses.to_json())).collect())
    }

    fn read<C: Cells>(cells: &C, column: usize) -> Result<Losses, C::Fault> {
        if cells.is_missing(column) {
            return Ok(Losses::default());
        }
        let text = cells.text(column)?;
        let losses = Losses::from_json(&text);
        losses.ok_or_else(|| cells.fault(column, "a JSON object of numbers".to_owned()))
    }
}

/// The kind of event in a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrialEvent {
    /// The trial was started: the task that trains it up to its first rung is active.
    Started,
    /// The trial reached a rung, where its loss is measured.
    Reached,
    /// The trial was promoted to a higher rung.
    Promoted,
    /// The trial was stopped and trains no further.
    Stopped,
    /// The trial reached the last rung.
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
    /// The trial reached the last rung.
    Finished,
    /// The trial was stopped below the last rung.
    Stopped,
    /// The trial is training.
    Training,
    /// The trial is waiting for other trials of its rung.
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
    /// A row of `search`: an event of a search. Rows are in chronological order.
    #[derive(Debug, Clone, PartialEq)]
    pub struct SearchRow {
        /// time of the event
        time: Utc = "time" ["time"],
        /// `started`, `reached` (a rung), `promoted` (to a rung), `stopped`, or `finished` (reached the last rung)
        event: TrialEvent = "event" [""],
        /// trial number, from 0
        trial: u32 = "trial" [""],
        /// rung number, from 0: the rung that the trial trains towards (`started`, `promoted`); otherwise, the last
        /// rung that it reached
        rung: u32 = "rung" [""],
        /// resource of `rung`, in the unit of the task file
        resource: f64 = "resource" ["resource"],
        /// loss measured at `rung`, or the first of several losses; empty for events other than `reached`, and if
        /// training diverged
        loss: Option<f64> = "loss" ["loss"],
        /// all losses measured at `rung`, as a JSON object with `null` for a loss that is not finite; empty for events
        /// other than `reached`, and if the search has only one loss
        losses: Losses = "losses" [""],
    }
}

record! {
    /// A row of `trials`: a trial. Rows are in the order of trial numbers.
    #[derive(Debug, Clone, PartialEq)]
    pub struct TrialRow {
        /// trial number, from 0
        trial: u32 = "trial" [""],
        /// task of the task file that the trial trains
        task: String = "task" [""],
        /// bracket in which the trial competes with other trials (hyperband, bohb); 0 for other algorithms
        bracket: u32 = "bracket" [""],
        /// state when the replay ended: `finished` (reached the last rung), `stopped`, `training`, or `waiting` (for
        /// other trials of its rung)
        state: TrialState = "state" [""],
        /// time at which the trial was started
        start: Utc = "start" ["time"],
        /// time at which the trial reached its highest rung; empty if it reached no rung
        end: Option<Utc> = "end" ["time"],
        /// resource of the highest rung that the trial reached; 0 if it reached no rung
        resource: f64 = "resource" ["resource"],
        /// loss measured at the highest rung that the trial reached; empty if no loss was measured or training
        /// diverged. With several losses, `loss` and `final_loss` refer to the first loss
        loss: Option<f64> = "loss" ["loss"],
        /// noise-free loss that the trial would have at the last rung; empty if training diverges, or if the search is
        /// a Python object
        final_loss: f64 as Finite = "final_loss" ["loss"],
        /// work done for the trial
        work_done: f64 = "work_done" ["work"],
        /// hyperparameters, as a JSON object; empty if the search has none
        parameters: String as OrEmpty = "parameters" [""],
        /// trial from whose state this trial started (pbt); empty if this trial started untrained
        parent: Option<u32> = "parent" [""],
        /// all losses measured at the highest rung that the trial reached, as a JSON object with `null` for a loss that
        /// is not finite; empty if no loss was measured or the search has only one loss
        losses: Losses = "losses" [""],
        /// number of the trial's non-dominated front among all finished trials: 0 if no other finished trial is at
        /// least as good in all losses and better in at least one; empty if the trial is not finished or the search has
        /// only one loss
        front: Option<u32> = "front" [""],
    }
}

record! {
    /// A row of `rungs`: the trials that reached a resource. Rows are sorted by resource.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct RungRow {
        /// resource at which losses are measured
        resource: f64 = "resource" ["resource"],
        /// number of trials that reached `resource`
        trials: u64 = "trials" [""],
        /// time from the first event of the replay until the first trial reached `resource`
        first_s: f64 = "first_s" ["s"],
        /// time from the first event of the replay until half of the trials that reached `resource` had done so
        median_s: f64 = "median_s" ["s"],
        /// lowest loss measured at `resource`, or the lowest first loss if there are several losses; empty if all
        /// trials diverged
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
    /// The trial with the lowest loss among the trials that reached the last rung; the first of them if several trials
    /// have this loss.
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
