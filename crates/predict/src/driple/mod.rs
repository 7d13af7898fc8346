//! Builds data sets for inspectors, which are networks that predict a job's metrics from its graph. Also scores the
//! predictions of inspectors.

pub mod build;
mod part;
mod ridge;
pub mod scores;

pub use part::Part;
