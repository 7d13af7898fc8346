//! Applies inspectors: builds data sets from many graphs, and scores predictions.

pub mod build;
mod part;
mod ridge;
pub mod scores;

pub use part::Part;
