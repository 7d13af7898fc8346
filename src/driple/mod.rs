//! Inspectors in their use: data sets made of many graphs, and how well models tell their labels.

pub mod build;
mod part;
mod ridge;
pub mod scores;

pub use part::Part;
