//! Creates inspectors from the original's weights, which have no card. The architecture is inferred
//! from the names and shapes of the tensors.

use super::{Card, Inspector, InspectorError};
use crate::model::{Architecture, Convolution, Depth, Inputs, Tensor, Weights};

/// The reason why an inspector cannot be created from weights.
#[derive(Debug, thiserror::Error)]
pub enum InferError {
    /// The weights do not match any known graph convolution. Holds the names of the first three weights.
    #[error(
        "no graph convolution has these weights: expected conv_layers.0.W, .epsilon, .heads or \
         .towers, found {0}"
    )]
    Convolution(String),
    /// The weight that determines the hidden width is missing, or it is not a matrix. Holds the
    /// name of the weight.
    #[error("{0} is missing or not a matrix: these are not the weights of an inspector")]
    Width(&'static str),
    /// The weights do not fit the inferred network.
    #[error(transparent)]
    Inspector(#[from] InspectorError),
}

/// The name prefix of weights that the original's transfer learning adds but never uses.
const UNUSED: &str = "conv_layers.2.";

/// Creates an inspector from the original's weights. Also returns the names of unused weights,
/// which are left out because no output depends on them.
///
/// The original's weights do not include the scale of the predictions. A caller that knows the
/// scale should set `card.scale` of the result.
///
/// # Errors
/// If the weights do not match any of the original's networks.
pub fn converted(
    mut weights: Weights,
    depth: Depth,
) -> Result<(Inspector, Vec<String>), InferError> {
    let unused: Vec<String> = weights
        .keys()
        .filter(|name| name.starts_with(UNUSED))
        .cloned()
        .collect();
    unused.iter().for_each(|name| drop(weights.remove(name)));
    let convolution = convolution(&weights)?;
    let hidden = columns(weights.get("gru.gru.weight_hh_l0"))
        .ok_or(InferError::Width("gru.gru.weight_hh_l0"))?;
    let last = "graph_read_out.mlp.";
    let readout_layers = weights
        .keys()
        .filter(|name| name.starts_with(last) && name.ends_with(".linear.weight"))
        .count();
    let architecture = Architecture {
        hidden,
        readout_layers,
        depth,
        ..Architecture::original(convolution)
    };
    let card = Card {
        architecture,
        inputs: Inputs::Raw,
        scale: None,
        grouping: None,
        frequencies: None,
        provenance: None,
    };
    Ok((Inspector::new(card, &weights)?, unused))
}

fn columns(tensor: Option<&Tensor>) -> Option<usize> {
    match tensor?.shape[..] {
        [_, columns] => Some(columns),
        _ => None,
    }
}

fn convolution(weights: &Weights) -> Result<Convolution, InferError> {
    let has = |part: &str| {
        let start = format!("conv_layers.0.{part}");
        weights.keys().any(|name| name.starts_with(&start))
    };
    let known = [
        ("W", Convolution::Gcn),
        ("epsilon", Convolution::Gin),
        ("heads", Convolution::Gat),
        ("towers", Convolution::Mpnn),
    ];
    known
        .into_iter()
        .find(|(part, _)| has(part))
        .map(|(_, convolution)| convolution)
        .ok_or_else(|| {
            let names: Vec<&str> = weights.keys().take(3).map(String::as_str).collect();
            InferError::Convolution(if names.is_empty() {
                "no tensors".to_owned()
            } else {
                names.join(", ")
            })
        })
}
