//! Features of single operations: the sizes of their tensors, and how common their types are.

mod frequency;
mod size;

pub use frequency::{Frequencies, FrequencyError};
pub use size::{SizeError, TensorSize, tensor_size};
