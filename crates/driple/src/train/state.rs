//! The state of a training run.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::nn::{AdamState, Parameters, Real};

/// The result of an epoch. Errors are mean squared errors, computed after each label is divided by the highest label of
/// its metric in the training set.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// The index of the epoch, from 0.
    pub epoch: usize,
    /// The error on the training set. The error of each batch is computed before the optimiser's
    /// step for that batch.
    pub train: f64,
    /// The error on the validation set after the epoch; `None` if that set is empty.
    pub val: Option<f64>,
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mse train {:.5}", self.train)?;
        match self.val {
            Some(val) => write!(f, ", val {val:.5}"),
            None => Ok(()),
        }
    }
}

/// The epoch with the lowest error so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Best<T> {
    /// The index of the epoch, from 0.
    pub epoch: usize,
    /// The validation error of the epoch, or its training error if there is no validation set.
    pub error: f64,
    /// The parameters after the epoch.
    pub parameters: Parameters<T>,
}

/// The state of a training run after an epoch. It contains everything that one epoch passes on to
/// the next.
#[derive(Debug, Clone, PartialEq)]
pub struct State<T> {
    /// The parameters of the network.
    pub parameters: Parameters<T>,
    /// The state of the optimiser.
    pub adam: AdamState<T>,
    /// The best epoch so far; `None` before the first epoch.
    pub best: Option<Best<T>>,
    /// The results of all epochs so far.
    pub history: Vec<Epoch>,
}

impl<T: Real> State<T> {
    /// The state before the first epoch.
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

    /// Records an epoch and, if it is the best so far, its parameters.
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

    /// The parameters of the best epoch, or the current parameters if no epoch has finished.
    #[must_use]
    pub fn best_parameters(&self) -> &Parameters<T> {
        self.best
            .as_ref()
            .map_or(&self.parameters, |best| &best.parameters)
    }
}
