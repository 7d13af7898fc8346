//! Data sets as safetensors files.
//!
//! Batch `b` of a part of the data, `train`, `val` or `test`, is three tensors of its `B` graphs
//! with `N` nodes each: `{part}.{b}.adj`, the adjacency of 0 and 1, `u8` (read: also `f32` and
//! `bool`) `B × N × N`; `{part}.{b}.x`, the features, `f32` `B × N × 3`; `{part}.{b}.y`, the
//! labels, `f32` `B × 12`. Batches count from 0.
//!
//! A batch whose graphs differ in size is kept in runs of graphs of equal size, which follow one
//! another: `{part}.{b}.{run}.adj` and so on, runs from 0. They are read back as one batch.
//!
//! `y_train_max`, `f32` `12`, is the largest of each label in `train`. The metadata has, under
//! `gleaner`, a [`Manifest`] as JSON with the number of graphs and the names of the jobs.

mod error;
mod manifest;
mod name;
mod read;
mod write;

pub use error::DatasetError;
pub use manifest::{LeftOut, Manifest, Source};
pub use read::read;
pub use write::write;

/// Whether a data set's file has tensors of this name.
#[must_use]
pub fn has(tensor: &str) -> bool {
    tensor == name::MAXIMUM || name::Name::parse(tensor).is_some()
}
