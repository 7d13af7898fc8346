//! Readers: every input format to the domain types.
//!
//! All faults of files are found here. Nothing in an input is ever executed, and
//! no length that a file states is trusted before the file has the bytes for it.

pub mod driple;
pub mod events;
pub mod gpu;
pub mod jobs;
pub mod model;
pub mod pickle;
pub mod plan;
pub mod problems;
pub mod runs;
pub mod scheduler;
pub mod script;
pub mod source;
pub mod tasks;
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
pub use source::{Digest, SourceId};

/// What a reader read, and from which bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded<T> {
    /// The domain value.
    pub value: T,
    /// The files it came from, in the order of the arguments.
    pub sources: Vec<SourceId>,
    /// Remarks for the user, one sentence each; none is a fault.
    pub notes: Vec<String>,
}
