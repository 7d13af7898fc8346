//! Stores the result of each run as soon as it is known, so that no run is repeated.
//!
//! Several processes, on several machines, may add to one [`Store`] at the same time. Each process appends to a file of
//! its own, a segment, so no process waits for another. A line of a segment is a [`Digest`] and a record in JSON. A
//! segment is valid up to its last complete line, so the store stays valid if a process is killed. A reader sees the
//! union of all segments. [`Store::merge`] combines the segments into one when all runs are done. docs/OUTPUTS.md
//! describes the lines.
//!
//! [`Digest`]: gleaner_domain::Digest

mod found;
mod key;
mod lines;
mod merge;
mod record;
mod tracker;
mod writer;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gleaner_domain::error::{Error, Fault, Faults, Result};

pub use found::{Failure, Found, Kept, PartLog};
pub use key::RunKey;
pub use record::{Ended, PartName};
pub use tracker::Tracker;
pub use writer::Writer;

/// Name of the store's folder in the directory of a sweep or of profiles.
const FOLDER: &str = "runs";

/// Suffix of the names of segments.
const ENDING: &str = ".records";

/// The folder of segments. A missing folder counts as an empty folder.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The store in the given directory.
    pub fn at(directory: &Path) -> Self {
        Store {
            folder: directory.join(FOLDER),
        }
    }

    /// The segments, ordered by name.
    ///
    /// # Errors
    /// The folder exists but cannot be read, or a segment is not a regular file. Other files are refused because
    /// another user may have created a named pipe, which would block every reader.
    fn segments(&self) -> Result<Vec<PathBuf>> {
        let unread = |error| Error::io("read", &self.folder, error);
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unread(error)),
        };
        let mut segments = Vec::new();
        for entry in entries {
            let entry = entry.map_err(unread)?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if !name.ends_with(ENDING) || name.starts_with('.') {
                continue;
            }
            if !entry.file_type().map_err(unread)?.is_file() {
                let found = "a link, a folder, a named pipe or a device";
                let fault = Fault::of(&entry.path(), found, "a regular file").remedy("remove it");
                return Err(Faults(vec![fault]).into());
            }
            segments.push(entry.path());
        }
        segments.sort();
        Ok(segments)
    }
}
