//! Files that are whole or not there.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};

/// Writes a file. What was there is replaced at once, or stays.
///
/// # Errors
/// When the file cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".part");
    let part = path.with_file_name(name);
    let failed = |error| Error::io("write", path, error);
    fs::write(&part, bytes).map_err(failed)?;
    fs::rename(&part, path).map_err(|error| {
        // What is left of it is of no use; that it could not be removed says nothing more.
        let _ = fs::remove_file(&part);
        failed(error)
    })
}
