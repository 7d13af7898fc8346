//! `run.json`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::files::{RUN_FILE, read_json};
use crate::error::{Error, Result};
use crate::ingest::SourceId;

/// How a run was made.
#[derive(Debug, Clone)]
pub struct RunInfo {
    /// The directory, as the user named it.
    pub path: PathBuf,
    /// The subcommand.
    pub command: String,
    /// Version of the program.
    pub version: String,
    /// Arguments as the program names them, and their values as text; those not given left out.
    pub arguments: Vec<(String, String)>,
    /// Every file that was read.
    pub inputs: Vec<UsedInput>,
    /// Whether the run reached its end.
    pub complete: bool,
}

/// A file that a run read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct UsedInput {
    /// Path as the user named it.
    pub path: String,
    /// Length in bytes.
    pub bytes: u64,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
}

impl From<&SourceId> for UsedInput {
    fn from(id: &SourceId) -> Self {
        UsedInput {
            path: id.path.display().to_string(),
            bytes: id.length,
            sha256: id.sha256.to_string(),
        }
    }
}

/// The fields of `run.json` that are read.
#[derive(Deserialize)]
struct Document {
    command: String,
    version: String,
    arguments: Map<String, Value>,
    inputs: Vec<UsedInput>,
    complete: bool,
}

impl RunInfo {
    /// That of a subcommand of this program at work on `path`, with these arguments, a map,
    /// and files read.
    ///
    /// # Errors
    /// Never in practice: the serialiser's words where it fails.
    pub fn of_this(
        command: &str,
        path: &Path,
        arguments: &impl Serialize,
        sources: &[SourceId],
    ) -> Result<Self> {
        let arguments = match serde_json::to_value(arguments) {
            Ok(Value::Object(map)) => map,
            Ok(_) => Map::new(),
            Err(error) => return Err(Error::Run(error.to_string())),
        };
        Ok(RunInfo {
            path: path.to_owned(),
            command: command.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            arguments: arguments.into_iter().filter_map(given).collect(),
            inputs: sources.iter().map(UsedInput::from).collect(),
            complete: true,
        })
    }

    pub(super) fn read(dir: &Path) -> Result<Self> {
        let document: Document = read_json(dir, RUN_FILE)?;
        let arguments = document.arguments.into_iter();
        Ok(RunInfo {
            path: dir.to_owned(),
            command: document.command,
            version: document.version,
            arguments: arguments.filter_map(given).collect(),
            inputs: document.inputs,
            complete: document.complete,
        })
    }
}

/// An argument and its value, unless it is off or was left to its default of nothing.
fn given((name, value): (String, Value)) -> Option<(String, String)> {
    let text = match value {
        Value::Null | Value::Bool(false) => return None,
        Value::Array(list) if list.is_empty() => return None,
        Value::Bool(true) => "yes".to_owned(),
        Value::String(text) => text,
        Value::Array(list) => list.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    };
    Some((name, text))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
