//! Interpretable models for tables of features, usable alone.
//!
//! - [`ebm`]: the explainable boosting machine, an additive model whose every term can be drawn.
//! - [`lucid`]: the features and models that Lucid schedules GPU clusters by.
//! - [`tree`]: decision trees for classes.
//! - `baselines`, with the feature of that name: models from libraries to compare with.
//! - [`metrics`]: how far predictions are from the truth.
//! - [`isotonic`]: monotone smoothing.
//!
//! A [`Table`] holds the features. Everything is deterministic by seed, whatever the number of
//! threads.

#[cfg(feature = "baselines")]
pub mod baselines;
pub mod ebm;
pub mod isotonic;
pub mod lucid;
pub mod metrics;
pub mod table;
pub mod tree;

pub use table::{Categories, Column, Table, TableError};
