//! Builds data sets for inspectors, and scores their predictions.

pub mod build;
mod part;
mod ridge;
pub mod scores;

pub use part::Part;
