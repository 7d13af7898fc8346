//! Reads `run.json`.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value};

use super::files::RunFiles;
use crate::error::{Error, Fault, Result};
use crate::ingest::SourceId;
use crate::results::run::{Listed, RunFile};

/// What `run.json` says about a run.
#[derive(Debug, Clone)]
pub struct RunInfo {
    /// The directory, as the user named it.
    pub path: PathBuf,
    /// The subcommand, such as `replay`.
    pub command: String,
    /// Version of the program that made the run.
    pub version: String,
    /// Names of arguments, and their values as text. Arguments that were not given are left out.
    pub arguments: Vec<(String, String)>,
    /// The same as JSON values, off or not.
    pub values: Map<String, Value>,
    /// Every file that the run read.
    pub inputs: Vec<Listed>,
    /// Whether the run reached its end; false if it was interrupted.
    pub complete: bool,
    /// Every file that the run wrote, except `run.json`.
    pub files: Vec<Listed>,
}

impl RunInfo {
    /// The info of a run of this program: of a subcommand that works on `path` with these arguments
    /// and input files. `arguments` must serialise as a map.
    ///
    /// # Errors
    /// The arguments cannot be serialised, which does not happen in practice.
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
            values: arguments.clone(),
            arguments: arguments.into_iter().filter_map(given).collect(),
            inputs: sources.iter().map(Listed::from).collect(),
            complete: true,
            files: Vec::new(),
        })
    }

    /// Reads the `run.json` of a directory. An unfinished run is a fault.
    pub(super) fn read(dir: &Path) -> Result<Self> {
        let file: RunFile = RunFiles::info(dir)?;
        if file.unfinished {
            let found = "a run that ended before its results were in place";
            let fault = Fault::of(dir, found, "a finished run");
            return Err(fault.remedy("run it again").into());
        }
        let arguments = file.arguments.clone().into_iter();
        Ok(RunInfo {
            path: dir.to_owned(),
            command: file.command,
            version: file.version,
            values: file.arguments,
            arguments: arguments.filter_map(given).collect(),
            inputs: file.inputs,
            complete: file.complete,
            files: file.files,
        })
    }
}

/// The text of an argument's value. `None` if the argument is false, empty, or was not given.
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
