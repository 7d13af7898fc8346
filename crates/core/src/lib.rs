//! What all parts of Gleaner share: domain types, results, errors, files, words of messages, and Student's t.

pub mod domain;
pub mod error;
pub mod files;
pub mod results;
pub mod student;
pub mod words;

pub use error::{Error, Fault, Faults, Result};
