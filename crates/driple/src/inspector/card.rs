//! The card of an inspector: the metadata that its file holds in addition to the weights.

use serde::{Deserialize, Serialize};

use crate::features::Frequencies;
use crate::graph::METRICS;
use crate::group;
use crate::model::{Architecture, Inputs};
use crate::train::{Plan, Scale};

/// The description and the origin of an inspector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// The architecture of the network.
    pub architecture: Architecture,
    /// The conversion of node features to network inputs.
    pub inputs: Inputs,
    /// The scale that converts outputs of the network to the metrics' own units. `None` for
    /// published weights, because their files do not contain a scale. Without a scale, predictions
    /// are shares of unknown maxima.
    pub scale: Option<Scale>,
    /// The settings with which graphs are grouped for the inspector; `None` if unknown.
    pub grouping: Option<group::Settings>,
    /// The frequencies of operation types from which the nodes' features are computed; `None` if
    /// unknown.
    pub frequencies: Option<Frequencies>,
    /// The training run that produced the weights; `None` if unknown.
    pub provenance: Option<Provenance>,
}

/// The training run of an inspector: its data, its settings and its results.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The SHA-256 of the data set, as hexadecimal digits.
    pub data: String,
    /// The SHA-256 of the inspector that training started from; `None` if it started from random
    /// weights.
    pub started_from: Option<String>,
    /// The plan of the training run.
    pub plan: Plan,
    /// The seed of the initial weights.
    pub seed: u64,
    /// The number of completed epochs.
    pub epochs: usize,
    /// The index, from 0, of the epoch whose weights are kept.
    pub best_epoch: usize,
    /// The mean squared error of each metric on the validation set, for labels divided by the
    /// scale. `None` if it was not computed or the set is empty.
    pub val: Option<[f64; METRICS]>,
    /// The mean squared error of each metric on the test set, for labels divided by the scale.
    /// `None` if it was not computed or the set is empty.
    pub test: Option<[f64; METRICS]>,
}
