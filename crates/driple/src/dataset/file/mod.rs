//! Data sets as safetensors files.
//!
//! The data have three parts: `train`, `val` and `test`. Each part consists of batches, which are
//! numbered from 0. Batch `b` has `B` graphs of `N` nodes each and is stored as three tensors:
//!
//! - `{part}.{b}.adj`: the adjacency matrices with entries 0 and 1, `u8`, `B × N × N`; `f32` and
//!   `bool` are also accepted;
//! - `{part}.{b}.x`: the features, `f32`, `B × N × 3`;
//! - `{part}.{b}.y`: the labels, `f32`, `B × 12`.
//!
//! If the graphs of a batch differ in size, the batch is stored as several runs. A run is a
//! sequence of graphs of equal size. Its tensors are `{part}.{b}.{run}.adj` and so on, where runs
//! are numbered from 0. When the file is read, the runs are joined into one batch again.
//!
//! The tensor `y_train_max` (`f32`, `12`) holds the largest value of each label in `train`. The
//! metadata entry `gleaner` holds a [`Manifest`] as JSON, with the number of graphs and the names
//! of the jobs.

mod error;
mod manifest;
mod name;
mod read;
mod write;

pub use error::DatasetError;
pub use manifest::{LeftOut, Manifest, Source};
pub use read::read;
pub use write::write;

/// Whether `tensor` is a valid tensor name in a data set file.
#[must_use]
pub fn has(tensor: &str) -> bool {
    tensor == name::MAXIMUM || name::Name::parse(tensor).is_some()
}
