//! What is read from a path.

use std::path::Path;

use gleaner_core::domain::EventLog;
use gleaner_core::error::Result;
use gleaner_formats::ingest;

use crate::{Run, Tasks};

/// A value that a file or a directory holds.
///
/// ```
/// use gleaner::{EventLog, Open};
///
/// # std::env::set_current_dir(env!("CARGO_MANIFEST_DIR"))?;
/// let log = EventLog::open("dataset/idle.csv")?;
/// println!("{} nodes, {} events", log.nodes().len(), log.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Open: Sized {
    /// Reads and validates it.
    ///
    /// # Errors
    /// The path cannot be read. Faults of its content, each with the place, what was found and what was
    /// expected.
    fn open(path: impl AsRef<Path>) -> Result<Self>;
}

/// Which nodes are idle, by time: a pandas pickle, CSV, Parquet or `.gev` (dataset/README.md).
impl Open for EventLog {
    fn open(path: impl AsRef<Path>) -> Result<Self> {
        Ok(ingest::events::read(path.as_ref())?.value)
    }
}

/// Training tasks: TOML, JSON, CSV or Parquet (dataset/README.md). Times without a zone are UTC.
impl Open for Tasks {
    fn open(path: impl AsRef<Path>) -> Result<Self> {
        Ok(ingest::tasks::read(path.as_ref(), None, false)?.value)
    }
}

/// The directory of a replay, simulation, sweep or comparison.
impl Open for Run {
    fn open(path: impl AsRef<Path>) -> Result<Self> {
        ingest::runs::read(path.as_ref())
    }
}
