//! What an inspector's file says besides its weights.

use serde::{Deserialize, Serialize};

use crate::features::Frequencies;
use crate::graph::METRICS;
use crate::group;
use crate::model::{Architecture, Inputs};
use crate::train::{Plan, Scale};

/// What an inspector is and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// What its network is made of.
    pub architecture: Architecture,
    /// What the network sees of a node.
    pub inputs: Inputs,
    /// The units of its predictions; none of published weights, whose files lack them: predictions are
    /// then shares of maxima that are not known.
    pub scale: Option<Scale>,
    /// How graphs are grouped for it; none where it is not known.
    pub grouping: Option<group::Settings>,
    /// The frequencies of operations in a node's features; none where they are not known.
    pub frequencies: Option<Frequencies>,
    /// How it was trained; none where that is not known.
    pub provenance: Option<Provenance>,
}

/// How an inspector was trained.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The SHA-256 of the data set, as hexadecimal digits.
    pub data: String,
    /// That of the inspector that it started from, if any.
    pub started_from: Option<String>,
    /// How.
    pub plan: Plan,
    /// The seed of its first weights.
    pub seed: u64,
    /// How many epochs were trained.
    pub epochs: usize,
    /// The one that is kept, from 0.
    pub best_epoch: usize,
    /// Mean squared errors of each metric on the validation set, of labels divided by the scale.
    pub val: Option<[f64; METRICS]>,
    /// The same on the test set.
    pub test: Option<[f64; METRICS]>,
}
