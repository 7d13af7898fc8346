//! Writes result tables as CSV and Parquet.

use std::io::{self, Write};
use std::path::Path;

use crate::files;
use gleaner_domain::error::Result;
use gleaner_domain::results::Table;

mod csv;
mod dictionary;
mod file;
mod parquet;

pub use file::Form;

/// Writes a table to a file or stream.
pub trait WriteTable {
    /// Writes the table as CSV: a header, then a line for each row.
    ///
    /// # Errors
    /// `out` cannot be written.
    fn write_csv(&self, out: impl Write) -> io::Result<()>;

    /// Writes the table as Parquet. Times are nanosecond timestamps without a zone. Equal tables
    /// give identical bytes.
    ///
    /// # Errors
    /// The Parquet writer fails; its error is returned as an I/O error.
    fn write_parquet(&self, out: impl Write + Send) -> io::Result<()>;

    /// Writes the table to a file, in the format indicated by the path's extension.
    ///
    /// # Errors
    /// The extension is neither .csv nor .parquet, or the file cannot be written.
    fn write_file(&self, path: &Path) -> Result<()>;
}

impl WriteTable for Table<'_> {
    fn write_csv(&self, out: impl Write) -> io::Result<()> {
        csv::write(self, out)
    }

    fn write_parquet(&self, out: impl Write + Send) -> io::Result<()> {
        parquet::write(self, out)
    }

    fn write_file(&self, path: &Path) -> Result<()> {
        let form = Form::of(path)?;
        files::write(path, |out| match form {
            Form::Csv => self.write_csv(out),
            Form::Parquet => self.write_parquet(out),
        })
    }
}
