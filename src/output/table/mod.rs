//! The bytes of result tables as CSV and Parquet.

use std::io::{self, Write};
use std::path::Path;

use crate::error::Result;
use crate::files;
use crate::results::Table;

mod csv;
mod dictionary;
mod file;
mod parquet;

pub use file::Form;

/// A table that is written to a file.
pub trait WriteTable {
    /// Writes it as CSV: a header, then a line a row.
    ///
    /// # Errors
    /// Whatever `out` fails with.
    fn write_csv(&self, out: impl Write) -> io::Result<()>;

    /// Writes it as Parquet; times are nanosecond timestamps without a zone. The bytes depend
    /// on the table alone.
    ///
    /// # Errors
    /// What the Parquet writer fails with, in its words.
    fn write_parquet(&self, out: impl Write + Send) -> io::Result<()>;

    /// Writes it to a file of its own, of the format that its name ends with.
    ///
    /// # Errors
    /// Another ending than .csv or .parquet, or a file that cannot be written.
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
