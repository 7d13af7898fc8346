//! Parses the names of external solver programs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use gleaner_domain::error::{Error, Fault, Result};
use gleaner_process::find_program;
use serde::{Deserialize, Serialize};

use crate::judge::CONFIRM_GAP;

/// Prefix of the name of an external solver program.
pub const PREFIX: &str = "exec:";

/// The expected content of a manifest, for messages.
const EXPECTED: &str = "command = [\"PROGRAM\", \"ARGUMENT\"], and optionally directory, environment, \
                        start_seconds, seed, threads, confirm_gap";

/// Default number of seconds within which a program must send its hello.
const START_SECONDS: f64 = 10.0;

/// A solver program and its settings. It is written as `exec:COMMAND ARGUMENTS`, with quotes as in a
/// shell, or as `exec:FILE.toml`, which names a manifest.
#[derive(Debug, Clone, PartialEq)]
pub struct SolverCommand {
    /// The name as the user wrote it.
    text: String,
    /// Path of the manifest, if there is one.
    file: Option<PathBuf>,
    manifest: Manifest,
}

/// The settings of a program. Paths are relative to the manifest.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Working directory of the program [default: the manifest's directory; for a command without a manifest, the
    /// directory to which the command's path is relative].
    #[serde(default)]
    pub directory: Option<PathBuf>,
    /// Environment variables of the program, in addition to those of this process.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Seconds within which the program must send its hello.
    #[serde(default = "start_seconds")]
    pub start_seconds: f64,
    /// Seed that is passed to the program.
    #[serde(default)]
    pub seed: u64,
    /// Number of threads that the program may use.
    #[serde(default = "one")]
    pub threads: usize,
    /// Largest relative gap to the exact optimum at which a plan is still confirmed as optimal. The
    /// larger of this gap and `--gap` applies [default: 1e-6].
    #[serde(default = "confirm_gap")]
    pub confirm_gap: f64,
}

fn start_seconds() -> f64 {
    START_SECONDS
}

fn confirm_gap() -> f64 {
    CONFIRM_GAP
}

fn one() -> usize {
    1
}

impl FromStr for SolverCommand {
    type Err = Error;

    /// # Errors
    /// There is no command after `exec:`, a quote is not closed, or the manifest is invalid.
    fn from_str(text: &str) -> Result<Self> {
        SolverCommand::seen_from(text, Path::new(""))
    }
}

/// The words of a command after `exec:`.
fn words(text: &str) -> Result<Vec<String>> {
    let usage = |what: &str| Error::Usage(format!("solver {text}: {what}"));
    let line = text
        .strip_prefix(PREFIX)
        .ok_or_else(|| usage("expected exec:COMMAND"))?;
    let words = shlex::split(line).ok_or_else(|| usage("a quote is not closed"))?;
    if words.is_empty() {
        Err(usage("expected a command after exec:"))
    } else {
        Ok(words)
    }
}

/// Returns the folder, or `None` if its path is empty. An empty path means the current folder.
fn elsewhere(folder: PathBuf) -> Option<PathBuf> {
    Some(folder).filter(|path| !path.as_os_str().is_empty())
}

impl Manifest {
    fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
        let mut manifest: Manifest = toml::from_str(&text).map_err(|error| {
            let line = error
                .span()
                .map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            Fault::of(path, error.message(), EXPECTED).at(format!("line {line}"))
        })?;
        let expected = match () {
            () if manifest.command.is_empty() => Some("command with at least a program name"),
            () if !(manifest.start_seconds > 0.0 && manifest.start_seconds <= 3600.0) => {
                Some("start_seconds above 0 and at most 3600")
            }
            () if manifest.threads == 0 => Some("threads of at least 1"),
            () if !(0.0..1.0).contains(&manifest.confirm_gap) => {
                Some("confirm_gap of at least 0 and below 1")
            }
            () => None,
        };
        if let Some(expected) = expected {
            return Err(Fault::of(path, "a value out of range", expected).into());
        }
        let beside = path.parent().unwrap_or(Path::new(""));
        manifest.directory = elsewhere(beside.join(manifest.directory.unwrap_or_default()));
        Ok(manifest)
    }
}

impl SolverCommand {
    /// Parses the name of a program, relative to a folder. The path of a manifest is relative to that
    /// folder, and a command without a manifest runs there. An empty path means the current folder.
    ///
    /// # Errors
    /// The same as for [`SolverCommand::check`], or the manifest is invalid.
    pub fn seen_from(text: &str, folder: &Path) -> Result<Self> {
        let command = words(text)?;
        let file = match &command[..] {
            [file] if file.ends_with(".toml") => Some(folder.join(file)),
            _ => None,
        };
        let manifest = match &file {
            Some(file) => Manifest::read(file)?,
            None => Manifest {
                command,
                directory: elsewhere(folder.to_owned()),
                environment: BTreeMap::new(),
                start_seconds: START_SECONDS,
                seed: 0,
                threads: 1,
                confirm_gap: CONFIRM_GAP,
            },
        };
        let text = text.to_owned();
        Ok(SolverCommand {
            text,
            file,
            manifest,
        })
    }

    /// Checks the syntax of a program's name, without looking for the program.
    ///
    /// # Errors
    /// [`Error::Usage`]: the text does not begin with `exec:`, a quote is not closed, or there is no
    /// command.
    pub fn check(text: &str) -> Result<()> {
        words(text).map(|_| ())
    }

    /// The name as the user wrote it, including `exec:`.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The settings of the program.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The files to record as inputs of a run: the manifest, the program, and all arguments that name
    /// files. A program that cannot be found is left out.
    pub fn files(&self) -> Vec<PathBuf> {
        let directory = self.manifest.directory.as_deref().unwrap_or(Path::new(""));
        let Some((program, arguments)) = self.manifest.command.split_first() else {
            return Vec::new();
        };
        let arguments = arguments.iter().map(|word| directory.join(word));
        let manifest = self.file.iter().cloned();
        manifest
            .chain(find_program(program, directory))
            .chain(arguments)
            .filter(|path| path.is_file())
            .collect()
    }
}

impl Serialize for SolverCommand {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}
