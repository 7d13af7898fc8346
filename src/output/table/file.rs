//! A table as a file of its own, CSV or Parquet by its name.

use std::path::Path;

use super::Table;
use crate::error::{Error, Result};
use crate::files;

/// The format of a table's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Comma-separated values.
    Csv,
    /// Apache Parquet.
    Parquet,
}

impl Form {
    /// The format that a file's name ends with.
    ///
    /// # Errors
    /// Another ending than .csv or .parquet: [`Error::Usage`].
    pub fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        match extension.to_str() {
            Some("csv") => Ok(Form::Csv),
            Some("parquet") => Ok(Form::Parquet),
            _ => Err(Error::Usage(format!(
                "cannot tell the format of {}: expected a name ending in .csv or .parquet",
                path.display()
            ))),
        }
    }
}

impl Table<'_> {
    /// Writes the table to a file of the format that its name ends with.
    ///
    /// # Errors
    /// Another ending than .csv or .parquet, or a file that cannot be written.
    pub fn write_file(&self, path: &Path) -> Result<()> {
        let form = Form::of(path)?;
        files::write(path, |out| match form {
            Form::Csv => self.write_csv(out),
            Form::Parquet => self.write_parquet(out),
        })
    }
}
