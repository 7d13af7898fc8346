//! File access for the crates that read or write particular formats. This crate hashes inputs, and decompresses them
//! within limits. It reads logs line by line, and tables (CSV and Parquet) row by row. It also describes faults in
//! files, and writes tables.
//!
//! Nothing in a file is ever executed. A length stated in a file is trusted only if the file has that many bytes.
//!
//! ```
//! use std::io::Write;
//!
//! use gleaner_io::source::Source;
//!
//! let mut file = tempfile::NamedTempFile::new()?;
//! file.write_all(b"abc")?;
//! let source = Source::open(file.path())?;
//! assert_eq!(source.read_all()?.as_ref(), b"abc");
//! assert!(source.id().sha256.to_string().starts_with("ba7816bf"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod delimited;
pub mod fault;
pub mod files;
mod gather;
pub mod input;
pub mod json;
pub mod number;
pub mod parquet;
pub mod parquet_column;
pub mod rows;
pub mod source;
pub mod table;
pub mod toml_text;
pub mod unwind;

pub use gather::Gatherer;
pub use source::{Digest, SourceId};

/// A value that was read from files, with the files' identities.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded<T> {
    /// The value.
    pub value: T,
    /// The files that were read, in the order of the arguments.
    pub sources: Vec<SourceId>,
    /// Notes for the user, one sentence each. A note is not a fault.
    pub notes: Vec<String>,
}
