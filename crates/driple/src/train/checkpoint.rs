//! Checkpoints: files with the state of a training run. An interrupted run continues from its
//! checkpoint as if it had never been interrupted.

use std::collections::BTreeMap;

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use super::start::Start;
use super::state::{Best, Epoch, State};
use crate::inspector::{Card, InspectorError, metadata, write_tensors};
use crate::model::{Tensor, Weights, WeightsError, read_weights, set_weights, weights};
use crate::nn::{AdamState, ParamId, Parameters};

/// The metadata key of a checkpoint.
pub(crate) const KEY: &str = "gleaner-checkpoint";

/// The checkpoint version that this program writes, and the only version that it reads.
const VERSION: u32 = 1;

/// The parts of a checkpoint: the parameters, Adam's two moving means, and the parameters of the
/// best epoch. Each part has a tensor for every parameter. The name of the tensor starts with the
/// name of the part.
const PARTS: [&str; 4] = ["now/", "mean/", "square/", "best/"];

/// The reason why training cannot continue from a file, or a checkpoint cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file is not a checkpoint.
    #[error("the file is not a checkpoint of gleaner driple train")]
    None,
    /// The checkpoint has a version that cannot be read.
    #[error(
        "the checkpoint has version {0}, expected {VERSION}: train again with this version of \
         gleaner"
    )]
    Version(u32),
    /// The description of the training run cannot be parsed or written, or a tensor does not belong
    /// to any part.
    #[error("the checkpoint is damaged: {0}")]
    Damaged(String),
    /// The network or its weights are invalid, or the file cannot be written.
    #[error(transparent)]
    Inspector(#[from] InspectorError),
    /// The weights do not match the network.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

/// The description of a training run, as stored in the metadata.
#[derive(Serialize, Deserialize)]
struct Stored<C> {
    version: u32,
    card: C,
    steps: u64,
    history: Vec<Epoch>,
    best: Option<(usize, f64)>,
}

/// Returns the bytes of a checkpoint. The provenance in `card` must hold the plan and the hash of
/// the data.
///
/// # Errors
/// If a number cannot be written as JSON.
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

/// One of Adam's moving means, by parameter name.
fn moments(parameters: &Parameters<f32>, values: &[Array2<f32>]) -> Weights {
    let tensor = |(id, value): (ParamId, &Array2<f32>)| {
        let shape = parameters.shape(id).to_vec();
        let values = value.iter().copied().collect();
        (parameters.name(id).to_owned(), Tensor { shape, values })
    };
    parameters.ids().zip(values).map(tensor).collect()
}

/// Reads a checkpoint. Training from the returned state continues as if it had never been
/// interrupted.
///
/// # Errors
/// If `bytes` are not a checkpoint, or the checkpoint is damaged or of another version.
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

/// The tensors of each part, by the index of the part in `PARTS`.
fn split(weights: Weights) -> Result<BTreeMap<usize, Weights>, CheckpointError> {
    let mut parts: BTreeMap<usize, Weights> = BTreeMap::new();
    for (name, tensor) in weights {
        let place = PARTS.iter().enumerate();
        let mut found = place.filter_map(|(part, start)| Some((part, name.strip_prefix(start)?)));
        let Some((part, rest)) = found.next() else {
            return Err(CheckpointError::Damaged(format!(
                "tensor {name:?} does not belong to any part of a checkpoint"
            )));
        };
        parts
            .entry(part)
            .or_default()
            .insert(rest.to_owned(), tensor);
    }
    Ok(parts)
}
