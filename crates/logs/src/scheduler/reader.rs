//! The interface of all readers of logs.

use super::collector::Collector;
use super::table::refuse_parquet;
use gleaner_domain::error::Result;
use gleaner_io::input::{Input, Line};

/// Reads the files of a log, one after another, and reports their records to a collector.
pub trait LogReader {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read or is in a different format, a temporary file cannot be written, or there is a fault and
    /// the reader is strict.
    fn file(&mut self, input: &mut Input<'_>, collector: &mut Collector<'_>) -> Result<()>;

    /// Called after the last file.
    ///
    /// # Errors
    /// Same as for [`LogReader::file`].
    fn finish(&mut self, _: &mut Collector<'_>) -> Result<()> {
        Ok(())
    }
}

/// A [`LogReader`] that needs only one line at a time.
pub trait LineReader {
    /// Called at the start of each file.
    fn begin(&mut self) {}

    /// Reads a complete line.
    ///
    /// # Errors
    /// Same as for [`LogReader::file`].
    fn line(&mut self, line: &Line<'_>, collector: &mut Collector<'_>) -> Result<()>;

    /// Called after the last file.
    ///
    /// # Errors
    /// Same as for [`LogReader::file`].
    fn finish(&mut self, _: &mut Collector<'_>) -> Result<()> {
        Ok(())
    }
}

impl<R: LineReader> LogReader for R {
    fn file(&mut self, input: &mut Input<'_>, collector: &mut Collector<'_>) -> Result<()> {
        refuse_parquet(input)?;
        self.begin();
        while let Some(line) = input.next_line()? {
            if collector.log.counts.take(&line)? {
                self.line(&line, collector)?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, collector: &mut Collector<'_>) -> Result<()> {
        LineReader::finish(self, collector)
    }
}

/// Passes all files of a log to a reader.
///
/// # Errors
/// A file cannot be opened, or the reader fails.
pub fn read_all<'a>(
    reader: &mut dyn LogReader,
    inputs: impl IntoIterator<Item = Result<Input<'a>>>,
    collector: &mut Collector<'_>,
) -> Result<()> {
    for input in inputs {
        let mut input = input?;
        collector.log.begin(input.path());
        reader.file(&mut input, collector)?;
    }
    reader.finish(collector)
}
