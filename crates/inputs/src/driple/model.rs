//! Reads inspectors, training checkpoints, and weights saved by other programs.

use std::path::Path;

use gleaner_driple::content::Content;
use gleaner_driple::dataset::file;
use gleaner_driple::inspector::{self, Inspector};
use gleaner_driple::model::{Tensor, Weights, read_weights};
use gleaner_driple::torch;
use gleaner_driple::train::{Start, checkpoint};

use super::data::Data;
use super::tensors;
use gleaner_domain::error::Result;
use gleaner_io::Loaded;

/// Reads a trained model.
///
/// # Errors
/// The file cannot be read, or is not a model. The message states what the file contains instead.
pub fn read(path: &Path) -> Result<Loaded<Inspector>> {
    tensors(path, |content, bytes| {
        let remedy = match content {
            Content::Inspector => return inspector::read(bytes).map_err(|e| e.to_string()),
            Content::Checkpoint => {
                "name the trained model (the file given to -o), or continue with --resume"
            }
            Content::Data | Content::TorchData => "train a model on it with gleaner driple train",
            Content::Weights | Content::TorchWeights => {
                "convert them to a model with gleaner driple convert"
            }
        };
        let words = content.words();
        Err(format!("found {words}, expected a trained model; {remedy}"))
    })
}

/// Reads a checkpoint, which is the state of an unfinished training run.
///
/// # Errors
/// The file cannot be read, or is not a checkpoint.
pub fn checkpoint(path: &Path) -> Result<Loaded<Start>> {
    tensors(path, |content, bytes| match content {
        Content::Checkpoint => checkpoint::read(bytes).map_err(|e| e.to_string()),
        other => Err(format!(
            "found {}, expected a checkpoint, which gleaner driple train --checkpoint writes; \
             to start from a trained model's weights, use --from",
            other.words()
        )),
    })
}

/// The content of a tensor file.
#[derive(Debug)]
pub enum Found {
    /// A trained model.
    Inspector(Box<Inspector>),
    /// A checkpoint: the state of an unfinished training run.
    Checkpoint(Box<Start>),
    /// Named tensors, for example the weights of a model.
    Weights(Weights),
    /// A data set.
    Data(Box<Data>),
}

/// Reads any kind of tensor file.
///
/// # Errors
/// The file cannot be read or is faulty.
pub fn any(path: &Path) -> Result<Loaded<Found>> {
    tensors(path, found)
}

fn found(content: Content, bytes: &[u8]) -> Result<Found, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    Ok(match content {
        Content::Inspector => {
            Found::Inspector(Box::new(inspector::read(bytes).map_err(|e| text(&e))?))
        }
        Content::Checkpoint => {
            Found::Checkpoint(Box::new(checkpoint::read(bytes).map_err(|e| text(&e))?))
        }
        Content::Data => Found::Data(Box::new(file::read(bytes).map_err(|e| text(&e))?)),
        Content::TorchData => {
            let data = torch::dataset(bytes).map_err(|e| text(&e))?;
            Found::Data(Box::new((data, file::Manifest::default())))
        }
        Content::Weights => Found::Weights(read_weights(bytes).map_err(|e| text(&e))?),
        Content::TorchWeights => {
            let tensors = torch::tensors(bytes).map_err(|e| text(&e))?;
            Found::Weights(tensors.into_iter().map(weight).collect::<Result<_, _>>()?)
        }
    })
}

/// Converts a torch tensor, whose values must be finite, to a weight.
fn weight((name, tensor): (String, torch::Tensor)) -> Result<(String, Tensor), String> {
    let values = tensor.to_f32();
    if let Some(place) = values.iter().position(|value| !value.is_finite()) {
        let value = values[place];
        return Err(format!(
            "tensor {name:?} has the value {value} at index {place}, expected a finite number"
        ));
    }
    let shape = tensor.shape;
    Ok((name, Tensor { shape, values }))
}
