//! Reads the tables that accompany graphs: the measured resource consumption of jobs, and the frequencies of operation
//! types.

use std::path::Path;

use gleaner_driple::dataset::labels::Measurements;
use gleaner_driple::features::Frequencies;

use super::loaded;
use gleaner_domain::error::{Fault, Result};
use gleaner_io::Loaded;
use gleaner_io::source::{Source, TEXT_LIMIT};

/// Reads the measured resource consumption of jobs.
///
/// # Errors
/// The file cannot be read or is faulty. Faults are reported with their line and column.
pub fn measurements(path: &Path) -> Result<Loaded<Measurements>> {
    parse(path, Measurements::from_csv)
}

/// Reads the frequency of each type of operation.
///
/// # Errors
/// The file cannot be read or is faulty.
pub fn frequencies(path: &Path) -> Result<Loaded<Frequencies>> {
    parse(path, Frequencies::from_csv)
}

fn parse<T, E: std::fmt::Display>(
    path: &Path,
    parse: impl FnOnce(&[u8]) -> Result<T, E>,
) -> Result<Loaded<T>> {
    let source = Source::open(path)?;
    let value = parse(&source.read_up_to(TEXT_LIMIT)?).map_err(|error| Fault::told(path, error))?;
    Ok(loaded(&source, value))
}
