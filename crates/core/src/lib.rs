//! What all parts of Gleaner share: domain types, results, errors, observers of runs, file access, the
//! wording of messages, and Student's t-distribution.

pub mod domain;
pub mod error;
pub mod files;
pub mod results;
pub mod student;
pub mod words;

pub use error::{Error, Fault, Faults, Result};
pub use gleaner_observer::{self as observer, Observer, Unobserved};
