//! The file format of a table: CSV or Parquet, depending on the file extension.

use std::path::Path;

use gleaner_domain::error::{Error, Result};

/// The file format of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Comma-separated values.
    Csv,
    /// Apache Parquet.
    Parquet,
}

impl Form {
    /// The format indicated by a path's extension.
    ///
    /// # Errors
    /// [`Error::Usage`] if the extension is neither .csv nor .parquet.
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
