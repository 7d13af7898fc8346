//! What every reader of a scheduler's log is.

use super::collector::HoldCollector;
use crate::error::Result;
use crate::ingest::input::{Input, Line};

/// Reads a log line by line.
pub(super) trait LineReader {
    /// A file begins.
    fn begin(&mut self) {}

    /// Takes a line, which is whole.
    ///
    /// # Errors
    /// A header that lacks columns, a fault for a strict reader, or a temporary file
    /// that cannot be written.
    fn line(&mut self, line: &Line<'_>, collector: &mut HoldCollector) -> Result<()>;

    /// All files are read.
    ///
    /// # Errors
    /// As [`LineReader::line`].
    fn finish(&mut self, collector: &mut HoldCollector) -> Result<()>;
}

/// Gives a reader all lines of a file.
///
/// # Errors
/// The file cannot be read, and the reader's errors.
pub(super) fn feed(
    reader: &mut dyn LineReader,
    input: &mut Input<'_>,
    collector: &mut HoldCollector,
) -> Result<()> {
    reader.begin();
    while let Some(line) = input.next()? {
        if collector.log_counts.take(&line)? {
            reader.line(&line, collector)?;
        }
    }
    Ok(())
}
