//! Readers of input files: each turns one input format into domain types.
//!
//! All faults of input files are found here. Nothing in an input is ever executed. A length that a
//! file states is trusted only if the file has that many bytes.

pub mod driple;
pub mod events;
pub mod gpu;
pub mod jobs;
pub mod learning_curves;
pub mod model;
pub mod pickle;
pub mod problems;
pub mod runs;
pub mod scheduler;
pub mod script;
pub mod source;
pub mod tasks;
pub mod toml_text;
pub mod topology;
pub mod zone;

mod delimited;
mod fault;
mod gather;
mod input;
mod json;
mod parquet;
mod rows;
mod unwind;

pub use gather::{Gatherer, MAX_FAULTS};
pub use rows::{InputColumn, Need};
pub use source::{Digest, SourceId};

/// A value that was read, and the files that it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded<T> {
    /// What the input means.
    pub value: T,
    /// The files that were read, in the order of the arguments.
    pub sources: Vec<SourceId>,
    /// Remarks for the user, one sentence each. A remark is not a fault.
    pub notes: Vec<String>,
}
