//! Detects the kind of data in a file.

use safetensors::SafeTensors;

use crate::{dataset, inspector, torch, train};

/// The kinds of data that a tensor file can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A network with its weights, to be read by [`inspector::read`].
    Inspector,
    /// The saved state of a training run, to be read by [`train::checkpoint::read`].
    Checkpoint,
    /// A data set, to be read by [`dataset::file::read`].
    Data,
    /// A safetensors file of named tensors without a description of their network, to be read by
    /// [`crate::model::read_weights`].
    Weights,
    /// A data set saved by `torch.save`, to be read by [`torch::dataset`].
    TorchData,
    /// Named tensors saved by `torch.save`, to be read by [`torch::tensors`].
    TorchWeights,
}

/// The reason why the content of a file cannot be detected.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
    /// The file is neither a safetensors file nor a file written by `torch.save`.
    #[error(
        "this is neither a safetensors file ({0}) nor a file written by torch.save, which starts \
         with PK or the bytes 80 02 8a 0a; copy the file again, or save its tensors again"
    )]
    Neither(String),
    /// The file was written by `torch.save`, but it is damaged or malicious.
    #[error(transparent)]
    Torch(#[from] torch::TorchError),
}

impl Content {
    /// Detects the kind of data in `bytes`.
    ///
    /// # Errors
    /// The data are neither a safetensors file nor a file written by `torch.save`, or they are
    /// damaged.
    pub fn of(bytes: &[u8]) -> Result<Self, ContentError> {
        if torch::is_one(bytes) {
            let data = torch::is_dataset(bytes)?;
            return Ok(if data {
                Self::TorchData
            } else {
                Self::TorchWeights
            });
        }
        let (_, header) = SafeTensors::read_metadata(bytes)
            .map_err(|error| ContentError::Neither(error.to_string()))?;
        let names = header.tensors();
        // Inspectors and data sets use the same metadata key, so data sets are recognised by their
        // tensor names.
        if names.keys().any(|name| dataset::file::has(name)) {
            return Ok(Self::Data);
        }
        let texts = header.metadata().as_ref();
        let told = |key: &str| texts.is_some_and(|texts| texts.contains_key(key));
        Ok(if told(train::checkpoint::KEY) {
            Self::Checkpoint
        } else if told(inspector::KEY) {
            Self::Inspector
        } else {
            Self::Weights
        })
    }

    /// A noun phrase that describes the content. In messages, it follows "this is".
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Inspector => "a trained model",
            Self::Checkpoint => "a training checkpoint",
            Self::Data => "a data set",
            Self::Weights => "weights without a description of their network",
            Self::TorchData => "a data set saved by torch.save",
            Self::TorchWeights => "tensors saved by torch.save",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_content_is_reported_and_never_executed() {
        for bytes in [&b""[..], b"hello, world", b"cos\nsystem\n(S'id'\ntR."] {
            let fault = Content::of(bytes).unwrap_err().to_string();
            assert!(
                fault.starts_with("this is neither a safetensors file"),
                "{fault}"
            );
        }
        assert!(matches!(
            Content::of(b"PK\x03\x04"),
            Err(ContentError::Torch(_))
        ));
    }
}
