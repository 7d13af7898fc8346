//! Results as JSON, formatted for people to read.

use gleaner_domain::error::{Error, Result};
use serde::Serialize;

/// A value as indented JSON that ends with a line break.
///
/// # Errors
/// Returns an error if serialisation fails, which does not occur in practice.
pub fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string_pretty(value)
        .map(|text| text + "\n")
        .map_err(|error| Error::Run(error.to_string()))
}
