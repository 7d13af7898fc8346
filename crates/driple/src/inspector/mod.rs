//! Inspectors: trained networks, stored in one file with everything that a prediction needs.

mod card;
mod file;
mod infer;
mod predict;

pub use card::{Card, Provenance};
pub use file::{InspectorError, read, write, write_plain};
pub(crate) use file::{KEY, metadata, write_tensors};
pub use infer::{InferError, converted};
pub use predict::Stopped;

use crate::model::Network;
use crate::nn::Parameters;

/// A trained network and everything that a prediction needs.
#[derive(Debug, Clone)]
pub struct Inspector {
    /// The description and the origin of the inspector.
    pub card: Card,
    /// The layers of the network.
    pub network: Network,
    /// The weights of the layers.
    pub parameters: Parameters<f32>,
}
