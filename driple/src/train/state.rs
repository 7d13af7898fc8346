//! Where a training stands.

use serde::{Deserialize, Serialize};

use crate::nn::{AdamState, Parameters, Real};

/// What an epoch came to: mean squared errors of labels divided by the training set's highest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Its number, from 0.
    pub epoch: usize,
    /// Over the training set, each batch before its step.
    pub train: f64,
    /// Over the validation set, after the epoch; none where that is empty.
    pub val: Option<f64>,
}

/// The epoch whose validation error was lowest.
#[derive(Debug, Clone, PartialEq)]
pub struct Best<T> {
    /// Its number, from 0.
    pub epoch: usize,
    /// Its error: of validation, else of training.
    pub error: f64,
    /// The parameters after it.
    pub parameters: Parameters<T>,
}

/// Where a training stands after an epoch: all that the next one depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct State<T> {
    /// The parameters.
    pub parameters: Parameters<T>,
    /// What the optimiser remembers.
    pub adam: AdamState<T>,
    /// The best epoch so far.
    pub best: Option<Best<T>>,
    /// All epochs so far.
    pub history: Vec<Epoch>,
}

impl<T: Real> State<T> {
    /// Before the first epoch.
    #[must_use]
    pub fn new(parameters: Parameters<T>) -> Self {
        let adam = AdamState::new(&parameters);
        Self {
            parameters,
            adam,
            best: None,
            history: Vec::new(),
        }
    }

    /// Takes note of an epoch.
    pub(super) fn close(&mut self, train: f64, val: Option<f64>) {
        let epoch = self.history.len();
        let error = val.unwrap_or(train);
        if self.best.as_ref().is_none_or(|best| error < best.error) {
            self.best = Some(Best {
                epoch,
                error,
                parameters: self.parameters.clone(),
            });
        }
        self.history.push(Epoch { epoch, train, val });
    }

    /// The parameters of the best epoch, or the present ones before any.
    #[must_use]
    pub fn best_parameters(&self) -> &Parameters<T> {
        self.best
            .as_ref()
            .map_or(&self.parameters, |best| &best.parameters)
    }
}
