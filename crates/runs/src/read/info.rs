//! Reads `run.json`.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value};

use super::files::RunFiles;
use gleaner_domain::error::{Fault, Result};
use gleaner_domain::results::run::{Listed, RunFile, fields};
use gleaner_io::SourceId;

/// The contents of `run.json`: the subcommand, its arguments, and the files that the run read and wrote.
#[derive(Debug, Clone)]
pub struct RunInfo {
    /// The directory, as the user named it.
    pub path: PathBuf,
    /// The subcommand, such as `replay`.
    pub command: String,
    /// Version of the program that made the run.
    pub version: String,
    /// All arguments by name, including those that were not given.
    pub arguments: Map<String, Value>,
    /// Every file that the run read.
    pub inputs: Vec<Listed>,
    /// Whether the run finished; false if it was interrupted.
    pub complete: bool,
    /// Every file that the run wrote, except `run.json`.
    pub files: Vec<Listed>,
}

impl RunInfo {
    /// Describes a run of a subcommand of this program in the directory `path`, with these arguments and input files.
    /// `arguments` must serialise as a map.
    ///
    /// # Errors
    /// The arguments cannot be serialised, which does not happen in practice.
    pub fn of_this(
        command: &str,
        path: &Path,
        arguments: &impl Serialize,
        sources: &[SourceId],
    ) -> Result<Self> {
        Ok(RunInfo {
            path: path.to_owned(),
            command: command.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            arguments: fields(arguments)?,
            inputs: sources.iter().map(Listed::from).collect(),
            complete: true,
            files: Vec::new(),
        })
    }

    /// Reads the `run.json` of a directory. Rejects an unfinished run.
    pub(super) fn read(dir: &Path) -> Result<Self> {
        let file: RunFile = RunFiles::info(dir)?;
        if file.unfinished {
            let found = "a run that ended before its results were in place";
            let fault = Fault::of(dir, found, "a finished run");
            let remedy = if file.command == "sweep" {
                super::sweep::TABLES_OF_FINISHED_RUNS
            } else {
                "repeat the run"
            };
            return Err(fault.remedy(remedy).into());
        }
        Ok(RunInfo {
            path: dir.to_owned(),
            command: file.command,
            version: file.version,
            arguments: file.arguments,
            inputs: file.inputs,
            complete: file.complete,
            files: file.files,
        })
    }

    /// Names of the arguments that were given or have a default, and their values as text.
    pub fn given(&self) -> impl Iterator<Item = (&str, String)> {
        let arguments = self.arguments.iter();
        arguments.filter_map(|(name, value)| Some((name.as_str(), given(value)?)))
    }
}

/// The text of an argument's value. `None` if the argument is false or empty, or was not given.
fn given(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Bool(false) => None,
        Value::Array(list) if list.is_empty() => None,
        Value::Bool(true) => Some("yes".to_owned()),
        Value::Array(list) => Some(list.iter().map(plain).collect::<Vec<_>>().join(", ")),
        other => Some(plain(other)),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
