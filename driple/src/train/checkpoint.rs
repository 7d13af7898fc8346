//! Checkpoints: where a training stands, as a file from which it goes on as if never interrupted.

use std::collections::BTreeMap;

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use super::start::Start;
use super::state::{Best, Epoch, State};
use crate::inspector::{Card, InspectorError, metadata, write_tensors};
use crate::model::{Tensor, Weights, WeightsError, read_weights, set_weights, weights};
use crate::nn::{AdamState, ParamId, Parameters};

/// What a checkpoint is called among the metadata.
pub(crate) const KEY: &str = "gleaner-checkpoint";

/// The version that is written and read.
const VERSION: u32 = 1;

/// The parts of a checkpoint, each with a tensor for every parameter.
const PARTS: [&str; 4] = ["now/", "mean/", "square/", "best/"];

/// Why a file is no checkpoint that training can go on from.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// It is no checkpoint.
    #[error("the file is no checkpoint of gleaner driple train")]
    None,
    /// It is of another version.
    #[error("the checkpoint is of version {0}, expected {VERSION}: train anew with this program")]
    Version(u32),
    /// What it says of the training cannot be read.
    #[error("the checkpoint is damaged: {0}")]
    Damaged(String),
    /// Its network or weights are none, or it cannot be written.
    #[error(transparent)]
    Inspector(#[from] InspectorError),
    /// Its weights are not those of its network.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

#[derive(Serialize, Deserialize)]
struct Stored<C> {
    version: u32,
    card: C,
    steps: u64,
    history: Vec<Epoch>,
    best: Option<(usize, f64)>,
}

/// The bytes of a checkpoint: `card` has the plan and the data's hash in its provenance.
///
/// # Errors
/// Where a number is one that JSON lacks.
pub fn write(card: &Card, state: &State<f32>) -> Result<Vec<u8>, CheckpointError> {
    let parameters = &state.parameters;
    let best = state.best.as_ref();
    let stored = Stored {
        version: VERSION,
        card,
        steps: state.adam.steps,
        history: state.history.clone(),
        best: best.map(|best| (best.epoch, best.error)),
    };
    let json = serde_json::to_string(&stored)
        .map_err(|error| CheckpointError::Damaged(error.to_string()))?;
    let mut parts = vec![
        weights(parameters),
        moments(parameters, &state.adam.mean),
        moments(parameters, &state.adam.square),
    ];
    parts.extend(best.map(|best| weights(&best.parameters)));
    let named = PARTS.iter().zip(parts).flat_map(|(part, weights)| {
        weights
            .into_iter()
            .map(move |(name, tensor)| (format!("{part}{name}"), tensor))
    });
    Ok(write_tensors(&named.collect(), (KEY, json))?)
}

fn moments(parameters: &Parameters<f32>, values: &[Array2<f32>]) -> Weights {
    let tensor = |(id, value): (ParamId, &Array2<f32>)| {
        let shape = parameters.shape(id).to_vec();
        let values = value.iter().copied().collect();
        (parameters.name(id).to_owned(), Tensor { shape, values })
    };
    parameters.ids().zip(values).map(tensor).collect()
}

/// Reads a checkpoint: training goes on from it as if never interrupted.
///
/// # Errors
/// Where `bytes` is no checkpoint, or a damaged one.
pub fn read(bytes: &[u8]) -> Result<Start, CheckpointError> {
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let wrong = |error: serde_json::Error| CheckpointError::Damaged(error.to_string());
    let json = metadata(bytes, KEY)?.ok_or(CheckpointError::None)?;
    let Version { version } = serde_json::from_str(&json).map_err(wrong)?;
    if version != VERSION {
        return Err(CheckpointError::Version(version));
    }
    let stored: Stored<Card> = serde_json::from_str(&json).map_err(wrong)?;
    let mut parts = split(read_weights(bytes)?)?;
    let now = crate::inspector::Inspector::new(stored.card, &take(&mut parts, 0))?;
    let (card, network, parameters) = (now.card, now.network, now.parameters);
    let mut part = |index: usize| -> Result<Parameters<f32>, CheckpointError> {
        let mut values = parameters.clone();
        set_weights(&mut values, &take(&mut parts, index))?;
        Ok(values)
    };
    let (mean, square) = (part(1)?, part(2)?);
    let all = |values: &Parameters<f32>| values.ids().map(|id| values[id].clone()).collect();
    let adam = AdamState {
        steps: stored.steps,
        mean: all(&mean),
        square: all(&square),
    };
    let best = match stored.best {
        Some((epoch, error)) => Some(Best {
            epoch,
            error,
            parameters: part(3)?,
        }),
        None => None,
    };
    let history = stored.history;
    let state = State {
        parameters,
        adam,
        best,
        history,
    };
    Ok(Start {
        card,
        network,
        state,
    })
}

fn take(parts: &mut BTreeMap<usize, Weights>, part: usize) -> Weights {
    parts.remove(&part).unwrap_or_default()
}

/// The tensors of each part, by its number.
fn split(weights: Weights) -> Result<BTreeMap<usize, Weights>, CheckpointError> {
    let mut parts: BTreeMap<usize, Weights> = BTreeMap::new();
    for (name, tensor) in weights {
        let place = PARTS.iter().enumerate();
        let mut found = place.filter_map(|(part, start)| Some((part, name.strip_prefix(start)?)));
        let Some((part, rest)) = found.next() else {
            return Err(CheckpointError::Damaged(format!(
                "tensor {name:?} is of no part"
            )));
        };
        parts
            .entry(part)
            .or_default()
            .insert(rest.to_owned(), tensor);
    }
    Ok(parts)
}
