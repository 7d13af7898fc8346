//! The file of an inspector: weights as safetensors, with the original's names, and the card as JSON
//! in its metadata, under `gleaner`.

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use serde::{Deserialize, Serialize};

use super::{Card, Inspector};
use crate::model::{
    ArchitectureError, Network, Weights, WeightsError, read_weights, set_weights, weights,
};

/// The version that is written; earlier ones are read.
const VERSION: u32 = 1;

/// What the card is called among the metadata.
pub(crate) const KEY: &str = "gleaner";

/// Why a file is no inspector.
#[derive(Debug, thiserror::Error)]
pub enum InspectorError {
    /// Its weights cannot be used.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// It has no card.
    #[error(
        "the file has weights but says nothing of their network: make an inspector of it with \
         gleaner driple convert"
    )]
    NoCard,
    /// Its card cannot be read.
    #[error("what the file says of its network is damaged: {0}")]
    Card(String),
    /// It is of a later version.
    #[error("the file is of version {0}, this program reads versions up to {VERSION}: update it")]
    Version(u32),
    /// Its network is none.
    #[error(transparent)]
    Architecture(#[from] ArchitectureError),
    /// It cannot be written.
    #[error("the inspector cannot be written: {0}")]
    Write(String),
}

#[derive(Serialize, Deserialize)]
struct Stored<C> {
    version: u32,
    #[serde(flatten)]
    card: C,
}

/// The bytes of an inspector's file.
///
/// # Errors
/// Where its card has a number that JSON lacks.
pub fn write(inspector: &Inspector) -> Result<Vec<u8>, InspectorError> {
    let stored = Stored {
        version: VERSION,
        card: &inspector.card,
    };
    let card =
        serde_json::to_string(&stored).map_err(|error| InspectorError::Write(error.to_string()))?;
    write_tensors(&weights(&inspector.parameters), (KEY, card))
}

/// The bytes of a safetensors file of an inspector's weights alone, as torch and others read them.
///
/// # Errors
/// Never in practice; the library's words where it fails.
pub fn write_plain(inspector: &Inspector) -> Result<Vec<u8>, InspectorError> {
    // What torch's own files say, and some readers ask for.
    write_tensors(&weights(&inspector.parameters), ("format", "pt".to_owned()))
}

/// A safetensors file of `tensors`, with one entry of metadata.
pub(crate) fn write_tensors(
    tensors: &Weights,
    (key, value): (&str, String),
) -> Result<Vec<u8>, InspectorError> {
    let wrong = |error: safetensors::SafeTensorError| InspectorError::Write(error.to_string());
    let bytes: Vec<Vec<u8>> = tensors
        .values()
        .map(|tensor| {
            tensor
                .values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect()
        })
        .collect();
    let mut views = Vec::with_capacity(tensors.len());
    for ((name, tensor), bytes) in tensors.iter().zip(&bytes) {
        let view = TensorView::new(Dtype::F32, tensor.shape.clone(), bytes).map_err(wrong)?;
        views.push((name, view));
    }
    let metadata = [(key.to_owned(), value)].into_iter().collect();
    safetensors::serialize(views, Some(metadata)).map_err(wrong)
}

/// The entry `key` of a safetensors file's metadata.
pub(crate) fn metadata(bytes: &[u8], key: &str) -> Result<Option<String>, WeightsError> {
    let wrong = |error: safetensors::SafeTensorError| WeightsError::Format(error.to_string());
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(wrong)?;
    Ok(header
        .metadata()
        .as_ref()
        .and_then(|entries| entries.get(key).cloned()))
}

/// Reads an inspector's file.
///
/// # Errors
/// Where `bytes` is no such file, or its weights are not those of its network.
pub fn read(bytes: &[u8]) -> Result<Inspector, InspectorError> {
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let wrong = |error: serde_json::Error| InspectorError::Card(error.to_string());
    let card = metadata(bytes, KEY)?.ok_or(InspectorError::NoCard)?;
    let Version { version } = serde_json::from_str(&card).map_err(wrong)?;
    if version > VERSION {
        return Err(InspectorError::Version(version));
    }
    let Stored::<Card> { card, .. } = serde_json::from_str(&card).map_err(wrong)?;
    Inspector::new(card, &read_weights(bytes)?)
}

impl Inspector {
    /// An inspector of these weights.
    ///
    /// # Errors
    /// Where the weights are not those of the card's network, or there is no such network.
    pub fn new(card: Card, weights: &Weights) -> Result<Self, InspectorError> {
        card.architecture.check()?;
        if card.inputs.width() != card.architecture.inputs() {
            let fault = "the inputs of a node are not those of the network's design";
            return Err(InspectorError::Card(fault.to_owned()));
        }
        // What the weights lack must not be made up first: a network may be said to be huge.
        let hidden = card.architecture.hidden;
        let told = weights
            .get("gru.gru.weight_hh_l0")
            .map(|tensor| tensor.shape.clone());
        if told.as_deref() != Some(&[3 * hidden, hidden]) {
            let name = "gru.gru.weight_hh_l0".to_owned();
            let expected = vec![3 * hidden, hidden];
            return Err(match told {
                Some(found) => WeightsError::Shape {
                    name,
                    found,
                    expected,
                },
                None => WeightsError::Missing {
                    name,
                    shape: expected,
                },
            }
            .into());
        }
        let (network, mut parameters) = Network::new(card.architecture, 0);
        set_weights(&mut parameters, weights)?;
        Ok(Self {
            card,
            network,
            parameters,
        })
    }
}
