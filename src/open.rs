//! Reads values from files and directories.

use std::path::Path;

use gleaner_domain::EventLog;
use gleaner_domain::error::Result;

use crate::{Run, Tasks};

/// A value that can be read from a file or a directory.
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
    /// Reads and validates the value.
    ///
    /// # Errors
    /// The path cannot be read, or its content is invalid. The error lists all faults, each with its place, the value
    /// found and the value expected.
    fn open(path: impl AsRef<Path>) -> Result<Self>;
}

/// A log of idle nodes: a pandas pickle, CSV, Parquet or `.gev` file (dataset/README.md).
impl Open for EventLog {
    fn open(path: impl AsRef<Path>) -> Result<Self> {
        Ok(gleaner_inputs::events::read(path.as_ref())?.value)
    }
}

/// Training tasks: a TOML, JSON, CSV or Parquet file (dataset/README.md). Times without a time zone are interpreted as
/// UTC.
impl Open for Tasks {
    fn open(path: impl AsRef<Path>) -> Result<Self> {
        Ok(gleaner_inputs::tasks::read(path.as_ref(), None, false)?.value)
    }
}

/// The run directory of a replay, simulation, sweep or comparison.
impl Open for Run {
    fn open(path: impl AsRef<Path>) -> Result<Self> {
        gleaner_runs::read::read(path.as_ref())
    }
}
