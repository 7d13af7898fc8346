//! Builds data sets for inspectors (networks that predict a job's metrics from its graph), and
//! scores the predictions of inspectors.

pub mod build;
mod part;
mod ridge;
pub mod scores;

pub use part::Part;
