//! Inspectors in use: builds data sets from many graphs, and scores the predictions of models.

pub mod build;
mod part;
mod ridge;
pub mod scores;

pub use part::Part;
