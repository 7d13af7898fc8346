//! The interface of all readers of line-based scheduler logs.

use super::collector::HoldCollector;
use gleaner_core::error::Result;
use gleaner_io::input::{Input, Line};

/// Reads a log line by line. The files of a log are read one after the other.
pub(super) trait LineReader {
    /// Called at the start of each file.
    fn begin(&mut self) {}

    /// Reads a line, which is complete.
    ///
    /// # Errors
    /// A header lacks columns, a temporary file cannot be written, or the line has a fault and the
    /// reader is strict.
    fn line(&mut self, line: &Line<'_>, collector: &mut HoldCollector) -> Result<()>;

    /// Called after the last file.
    ///
    /// # Errors
    /// As for [`LineReader::line`].
    fn finish(&mut self, collector: &mut HoldCollector) -> Result<()>;
}

/// Passes all lines of a file to a reader.
///
/// # Errors
/// The file cannot be read, or the reader fails.
pub(super) fn feed(
    reader: &mut dyn LineReader,
    input: &mut Input<'_>,
    collector: &mut HoldCollector,
) -> Result<()> {
    reader.begin();
    while let Some(line) = input.next_line()? {
        if collector.log_counts.take(&line)? {
            reader.line(&line, collector)?;
        }
    }
    Ok(())
}
