//! What all parts of Gleaner share: domain types, results, errors, files, and words of messages.

pub mod domain;
pub mod error;
pub mod files;
pub mod results;
pub mod words;

pub use error::{Error, Fault, Faults, Result};
