//! What a file holds, told from its bytes.

use safetensors::SafeTensors;

use crate::{dataset, inspector, torch, train};

/// What a file holds, as far as its beginning tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A network with its weights, for [`inspector::read`].
    Inspector,
    /// Where a training stands, for [`train::checkpoint::read`].
    Checkpoint,
    /// A data set, for [`dataset::file::read`].
    Data,
    /// Tensors by name as safetensors, for [`crate::model::read_weights`].
    Weights,
    /// A data set of `torch.save`, for [`torch::dataset`].
    TorchData,
    /// Tensors by name of `torch.save`, for [`torch::tensors`].
    TorchWeights,
}

/// Why a file is none of these.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
    /// Neither of the two formats.
    #[error(
        "this is neither a safetensors file ({0}) nor one of torch.save, which starts with PK or \
         the bytes 80 02 8a 0a; copy the file again, or save its tensors anew"
    )]
    Neither(String),
    /// A damaged or malicious file of `torch.save`.
    #[error(transparent)]
    Torch(#[from] torch::TorchError),
}

impl Content {
    /// What `bytes` hold.
    ///
    /// # Errors
    /// Where they are no file of tensors, or a damaged one.
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
        // Both data sets and inspectors say what they are under the same key.
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

    /// What it is, in words that follow "this is".
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Inspector => "a trained model",
            Self::Checkpoint => "a checkpoint of a training",
            Self::Data => "a data set",
            Self::Weights => "weights that say nothing of their network",
            Self::TorchData => "a data set of torch.save",
            Self::TorchWeights => "tensors of torch.save",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_neither_is_told_and_never_run() {
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
