//! `run.json`: the arguments and inputs of a run, and the files that it wrote.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// Name of the file that marks a directory as the output of a run of this program.
pub const RUN_FILE: &str = "run.json";

/// The content of `run.json`. Apart from measurements (`gleaner compare` and `profile`), only this
/// file and the table `timings` contain wall times. All other files depend only on inputs,
/// arguments and seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunFile {
    /// Name of the subcommand.
    pub command: String,
    /// Version of the program.
    pub version: String,
    /// All arguments by name, including defaults.
    pub arguments: Map<String, Value>,
    /// Every file that was read.
    pub inputs: Vec<Listed>,
    /// Whether the run finished.
    pub complete: bool,
    /// Whether results are being moved into place. If this is true and no run is writing, the
    /// directory was left behind by a run that was killed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    /// Wall time by phase.
    #[serde(default)]
    pub seconds: Seconds,
    /// Entries that only some subcommands write.
    #[serde(flatten)]
    pub more: Map<String, Value>,
    /// Every file that was written, except this file.
    pub files: Vec<Listed>,
}

/// The fields of a struct or map as JSON; no fields for any other value.
///
/// # Errors
/// The value cannot be serialised, which does not happen in practice.
pub fn fields(value: &impl Serialize) -> Result<Map<String, Value>> {
    match serde_json::to_value(value) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Ok(Map::new()),
        Err(error) => Err(Error::Run(error.to_string())),
    }
}

/// A file that a run read or wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Path of an input as specified by the user, or path of a result relative to the run
    /// directory.
    pub path: String,
    /// Length in bytes.
    pub bytes: u64,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
}

/// Wall time by phase, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Seconds {
    /// Reading and validating the inputs.
    pub read: f64,
    /// The computation itself.
    pub compute: f64,
    /// Writing the tables.
    pub write: f64,
}
