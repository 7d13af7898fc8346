//! Files that are whole or not there.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::error::{Error, Result};

/// Writes a file. What was there is replaced at once, or stays.
///
/// # Errors
/// When the file cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fill(path, |out| out.write_all(bytes))
}

/// Writes a file with what `write` puts into it. What was there is replaced at once, or stays.
///
/// # Errors
/// When the file cannot be written.
pub fn fill(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<()> {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".part");
    let part = path.with_file_name(name);
    let failed = |error| Error::io("write", path, error);
    let mut out = BufWriter::new(File::create(&part).map_err(failed)?);
    let written = write(&mut out).and_then(|()| out.flush());
    let placed = written.and_then(|()| fs::rename(&part, path));
    placed.map_err(|error| {
        // What is left of it is of no use; that it could not be removed says nothing more.
        let _ = fs::remove_file(&part);
        failed(error)
    })
}
