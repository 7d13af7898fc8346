//! The format of a table's file, which is CSV or Parquet depending on its extension.

use std::path::Path;

use gleaner_domain::error::{Error, Result};

/// The format of a table's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Comma-separated values.
    Csv,
    /// Apache Parquet.
    Parquet,
}

impl Form {
    /// The format that a path's extension names.
    ///
    /// # Errors
    /// [`Error::Usage`] for another extension than .csv or .parquet.
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
