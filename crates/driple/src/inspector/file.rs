//! Reads and writes inspectors as safetensors files. The tensors are the weights, under the names
//! that the original uses. The metadata entry `gleaner` holds the card as JSON.

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use serde::{Deserialize, Serialize};

use super::{Card, Inspector};
use crate::model::{
    ArchitectureError, Network, Weights, WeightsError, read_weights, set_weights, weights,
};

/// The version of the file format that this program writes. The program also reads earlier
/// versions.
const VERSION: u32 = 1;

/// The metadata key of the card.
pub(crate) const KEY: &str = "gleaner";

/// The reason why an inspector cannot be read, created or written.
#[derive(Debug, thiserror::Error)]
pub enum InspectorError {
    /// The weights cannot be used.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// The file has no card.
    #[error(
        "the file has weights but no description of their network: convert it to a model with \
         gleaner driple convert"
    )]
    NoCard,
    /// The card cannot be parsed, or it contradicts itself.
    #[error("the description of the network in the file is invalid: {0}")]
    Card(String),
    /// The file's version is newer than the latest supported one.
    #[error(
        "the file has version {0}, but this program reads versions up to {VERSION}: update gleaner"
    )]
    Version(u32),
    /// The architecture on the card is invalid.
    #[error(transparent)]
    Architecture(#[from] ArchitectureError),
    /// The inspector cannot be written.
    #[error("the inspector cannot be written: {0}")]
    Write(String),
}

/// The card as stored in the file.
#[derive(Serialize, Deserialize)]
struct Stored<C> {
    version: u32,
    #[serde(flatten)]
    card: C,
}

/// Returns the bytes of an inspector's file.
///
/// # Errors
/// If the card contains a number that JSON cannot represent.
pub fn write(inspector: &Inspector) -> Result<Vec<u8>, InspectorError> {
    let stored = Stored {
        version: VERSION,
        card: &inspector.card,
    };
    let card =
        serde_json::to_string(&stored).map_err(|error| InspectorError::Write(error.to_string()))?;
    write_tensors(&weights(&inspector.parameters), (KEY, card))
}

/// Returns the bytes of a safetensors file with only the weights of an inspector, which torch and other programs can
/// read.
///
/// # Errors
/// If the safetensors library fails, which does not happen in practice.
pub fn write_plain(inspector: &Inspector) -> Result<Vec<u8>, InspectorError> {
    // torch writes this entry into its own files, and some readers require it.
    write_tensors(&weights(&inspector.parameters), ("format", "pt".to_owned()))
}

/// Returns a safetensors file of `tensors` with a single metadata entry.
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

/// The metadata entry `key` of a safetensors file; `None` if the file has no such entry.
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
/// If `bytes` are not an inspector's file, its version is too new, or its card is invalid or does not match the
/// weights.
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
    /// Creates an inspector from a card and weights.
    ///
    /// # Errors
    /// If the architecture or the inputs on the card are invalid, or the weights do not match the
    /// network.
    pub fn new(card: Card, weights: &Weights) -> Result<Self, InspectorError> {
        card.architecture.check()?;
        if card.inputs.width() != card.architecture.inputs() {
            let fault = "the node inputs do not match the network's design";
            return Err(InspectorError::Card(fault.to_owned()));
        }
        // The width is checked against the weights first, so that a faulty card cannot cause memory
        // to be allocated for a huge network.
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
