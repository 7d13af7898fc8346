//! Interpretable models for tables of features. The crate can be used alone.
//!
//! - [`ebm`]: the explainable boosting machine, an additive model in which every term can be
//!   plotted.
//! - [`lucid`]: the features and models of Lucid, a scheduler of GPU clusters.
//! - [`tree`]: decision trees that predict classes.
//! - `baselines`, with the feature of that name: models from libraries, for comparison.
//! - [`metrics`]: measures of how far predictions are from the truth.
//! - [`isotonic`]: monotone smoothing.
//!
//! A [`Table`] holds the features. The same seed gives the same results, whatever the number of
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
