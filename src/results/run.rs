//! `run.json`: how a run was made, and what it wrote.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The file's name: it marks a directory as a run of this program.
pub const RUN_FILE: &str = "run.json";

/// What `run.json` holds. Only here and in the timings table are wall times: all other files
/// depend on inputs, arguments and seed alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunFile {
    /// The subcommand.
    pub command: String,
    /// Version of the program.
    pub version: String,
    /// All arguments by their names, defaults filled in.
    pub arguments: Map<String, Value>,
    /// Every file read.
    pub inputs: Vec<Listed>,
    /// Whether the run reached its end.
    pub complete: bool,
    /// Whether results are being put in place; a directory that says so was left by a kill.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    /// Wall time by phase.
    #[serde(default)]
    pub seconds: Seconds,
    /// What else the subcommand says.
    #[serde(flatten)]
    pub more: Map<String, Value>,
    /// Every file written but this one.
    pub files: Vec<Listed>,
}

/// A file that a run read or wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Of an input the path as the user named it; of a result relative to the directory.
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
