//! Errors that occur when data sets are read or written.

use crate::dataset::ArrayFault;

/// The reason why a data set cannot be read from a file or written to a file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// The file is not a safetensors file, or it is incomplete.
    #[error("this is not a complete safetensors file ({0}); copy or write it again")]
    Format(String),
    /// The file contains a tensor that is not part of a data set.
    #[error(
        "tensor {0:?} is not part of a data set: expected y_train_max, or adj, x and y of a batch \
         of train, val or test, such as train.0.adj"
    )]
    Name(String),
    /// A tensor is missing.
    #[error(
        "tensor {0:?} is missing; number the batches from 0, and write adj, x and y for each of them"
    )]
    Missing(String),
    /// Two tensor names denote the same part of the data, such as `train.0.y` and
    /// `train.0.0.y`.
    #[error("tensors {0:?} and {1:?} denote the same part of the data; keep one")]
    Twice(String, String),
    /// A tensor has values of the wrong type.
    #[error("tensor {tensor:?} is of type {found}, expected {expected}; convert it first")]
    Type {
        /// The name of the tensor.
        tensor: String,
        /// The type of its values.
        found: String,
        /// The accepted types.
        expected: &'static str,
    },
    /// The arrays of a batch are not valid graphs.
    #[error("batch {batch}: {fault}")]
    Arrays {
        /// The common prefix of the tensors' names, such as `train.0`; `y_train_max` if that tensor
        /// is faulty.
        batch: String,
        /// The fault in the arrays.
        fault: ArrayFault,
    },
    /// There are no batches.
    #[error("there are no batches: expected at least train.0.adj, train.0.x and train.0.y")]
    Empty,
    /// The stored maximum of a label differs from the label's largest value in the training set.
    #[error(
        "y_train_max[{label}] is {stored}, but the largest value of this label in train is \
         {found}; correct y_train_max or leave it out"
    )]
    Maximum {
        /// The index of the label, from 0.
        label: usize,
        /// The maximum stored in the file.
        stored: f32,
        /// The largest value of the label in the training set.
        found: f32,
    },
    /// The manifest cannot be parsed, or it does not match the data.
    #[error("the manifest (metadata key \"gleaner\") is invalid: {0}; write the file again")]
    Manifest(String),
    /// The manifest's version is newer than the latest supported one. Holds the manifest's version
    /// and the latest supported version.
    #[error(
        "the manifest has version {0}, but the latest supported version is {1}; update gleaner"
    )]
    Version(u32, u32),
    /// A graph cannot be written.
    #[error("{part}, batch {batch}, graph {graph}: {fault}")]
    Graph {
        /// `train`, `val` or `test`.
        part: &'static str,
        /// The index of the batch, from 0.
        batch: usize,
        /// The index of the graph in the batch, from 0.
        graph: usize,
        /// A description of the fault.
        fault: String,
    },
    /// A batch has no graphs.
    #[error("batch {batch} of {part} has no graphs; leave out this batch")]
    NoGraphs {
        /// `train`, `val` or `test`.
        part: &'static str,
        /// The index of the batch, from 0.
        batch: usize,
    },
    /// The data set or its manifest is too large for a file, or cannot be encoded.
    #[error("the file cannot be written: {0}")]
    Write(String),
}
