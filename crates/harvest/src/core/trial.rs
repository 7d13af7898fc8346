//! The data that the program of a trial receives, and the losses that it reports.

use gleaner_search::Parameters;
use serde::{Deserialize, Serialize};

/// The part of a trial that one task trains.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Name of the task that the trial trains, as in the task file.
    pub of: String,
    /// Number of the trial, from 0.
    pub number: u32,
    /// Index of the rung up to which the trial is trained, from 0.
    pub rung: u32,
    /// The resource of this rung, such as a number of epochs.
    pub resource: f64,
    /// The hyperparameters of the trial.
    pub parameters: Parameters,
    /// Work that the trial has done when this rung starts.
    pub done: f64,
}

impl Trial {
    /// Name of the task that trains the trial up to the rung.
    pub fn task(&self) -> String {
        let Trial {
            of, number, rung, ..
        } = self;
        format!("{of}#{number}.{rung}")
    }
}

/// A reported loss. JSON cannot represent infinity, but a loss that is not finite must differ from a loss that was
/// never reported.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// The loss is a finite number.
    Finite(f64),
    /// The loss is infinite or not a number: training has diverged.
    Diverged,
}

impl From<f64> for Loss {
    fn from(loss: f64) -> Self {
        if loss.is_finite() {
            Loss::Finite(loss)
        } else {
            Loss::Diverged
        }
    }
}

impl From<Loss> for f64 {
    fn from(loss: Loss) -> Self {
        match loss {
            Loss::Finite(loss) => loss,
            Loss::Diverged => f64::INFINITY,
        }
    }
}

/// A task's report of its progress.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Report {
    /// Work that the task has done since it was submitted.
    pub done: f64,
    /// The loss, if it was measured. Only trials of a search need it.
    pub loss: Option<Loss>,
}

impl Report {
    /// Combines this report with an earlier one. If this report has no loss, the earlier loss is kept.
    pub fn after(self, earlier: Option<Report>) -> Report {
        let loss = self.loss.or(earlier.and_then(|earlier| earlier.loss));
        Report { loss, ..self }
    }
}
