//! What all parts of Gleaner share: domain types, results, errors, observers of runs, files, words of messages, and Student's t.

pub mod domain;
pub mod error;
pub mod files;
pub mod observer;
pub mod results;
pub mod student;
pub mod words;

pub use error::{Error, Fault, Faults, Result};
pub use observer::{Observer, Unobserved};
