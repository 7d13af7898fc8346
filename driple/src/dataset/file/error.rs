//! Why a file is no data set, or a data set cannot be written.

use crate::dataset::ArrayFault;

/// Why a file is no data set, or a data set cannot be written.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// Not a safetensors file.
    #[error("this is not a whole safetensors file ({0}); copy or write it again")]
    Format(String),
    /// A tensor that a data set does not have.
    #[error(
        "tensor {0:?} is not part of a data set: expected train.0.adj, train.0.x and train.0.y, \
         the same of val and test and of further batches, or y_train_max"
    )]
    Name(String),
    /// A tensor that is missing.
    #[error("tensor {0:?} is missing; batches count from 0 and have adj, x and y: write them all")]
    Missing(String),
    /// Two names of one tensor.
    #[error("tensors {0:?} and {1:?} are the same part of the data; keep one")]
    Twice(String, String),
    /// Values of a type that is not read.
    #[error("tensor {tensor:?} is of type {found}, expected {expected}; convert it first")]
    Type {
        /// The tensor.
        tensor: String,
        /// Its type.
        found: String,
        /// The types that are read.
        expected: &'static str,
    },
    /// Arrays that are no graphs.
    #[error("batch {batch}: {fault}")]
    Arrays {
        /// The batch, as its tensors' names begin.
        batch: String,
        /// What is wrong with it.
        fault: ArrayFault,
    },
    /// No batch at all.
    #[error("there are no batches: expected at least train.0.adj, train.0.x and train.0.y")]
    Empty,
    /// A stored maximum that is not that of the labels.
    #[error(
        "y_train_max[{label}] is {stored}, but the largest of the labels of train is {found}; \
         correct y_train_max or leave it out"
    )]
    Maximum {
        /// The label, from 0.
        label: usize,
        /// The maximum in the file.
        stored: f32,
        /// The maximum of the labels.
        found: f32,
    },
    /// A manifest that cannot be read.
    #[error("the manifest (metadata key \"gleaner\") is not right: {0}; write the file again")]
    Manifest(String),
    /// A manifest of a later version.
    #[error("the manifest has version {0}, but up to {1} is read; update gleaner")]
    Version(u32, u32),
    /// A graph that cannot be written.
    #[error("{part}, batch {batch}, graph {graph}: {fault}")]
    Graph {
        /// `train`, `val` or `test`.
        part: &'static str,
        /// The batch, from 0.
        batch: usize,
        /// The graph in the batch, from 0.
        graph: usize,
        /// What is wrong with it.
        fault: String,
    },
    /// A batch without graphs.
    #[error("{part}, batch {batch} has no graphs; leave it out")]
    NoGraphs {
        /// `train`, `val` or `test`.
        part: &'static str,
        /// The batch, from 0.
        batch: usize,
    },
    /// More names and reports than a file can hold.
    #[error("the file cannot be written: {0}")]
    Write(String),
}
