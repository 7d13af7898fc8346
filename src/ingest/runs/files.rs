//! The files of a run directory.

use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::domain::{Stamp, Time};
use crate::error::{Fault, Result};
use crate::ingest::rows::{Cell, CellResult, Clock};
use crate::ingest::source::Source;

/// The file that marks a directory as a run.
pub(super) const RUN_FILE: &str = "run.json";

/// Longest JSON file that is read, in bytes: those of real runs have a few thousand.
const MAX_JSON: u64 = 1 << 26;

/// Whether there is something of this name in a run directory.
pub(super) fn is_there(dir: &Path, name: &str) -> bool {
    fs::symlink_metadata(dir.join(name)).is_ok()
}

/// Opens a file of a run directory.
///
/// # Errors
/// It is missing or no plain file, or cannot be read.
pub(super) fn open(dir: &Path, name: &str) -> Result<Source> {
    let path = dir.join(name);
    // Opening a pipe, say, would wait for its writer for ever.
    let found = match fs::metadata(&path) {
        Ok(metadata) if metadata.is_file() => return Source::open(&path),
        Ok(_) => "something other than a file".to_owned(),
        Err(error) => error.to_string(),
    };
    let fault = Fault::of(&path, found, "a file of the run");
    let remedy = "name a run directory of gleaner replay, gleaner simulate or gleaner sweep, \
                  or run it again where files were lost";
    Err(fault.remedy(remedy).into())
}

/// Reads a JSON file.
///
/// # Errors
/// As [`open`], and where it is not JSON or misses a field.
pub(super) fn read_json<T: DeserializeOwned>(dir: &Path, name: &str) -> Result<T> {
    let source = open(dir, name)?;
    let length = source.id().length;
    if length > MAX_JSON {
        let expected = format!("at most {MAX_JSON}");
        return Err(source.fault(format!("{length} bytes"), expected).into());
    }
    let bytes = source.read_all()?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let expected = "what this version of gleaner writes";
        let fault = source.fault(error.to_string(), expected);
        fault.remedy("run it again with this version").into()
    })
}

/// A cell with a civil time.
pub(super) fn time(cell: Cell<'_>) -> CellResult<Time> {
    match cell.clock()? {
        Clock::Civil(Stamp::Local(time)) => Ok(time),
        _ => Err(cell.fault("a time such as 2020-04-01 00:00:00")),
    }
}
