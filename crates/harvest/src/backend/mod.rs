//! The backends: the systems on which pilots run. Each backend has its own file.

mod local;
mod reservations;
mod slurm;

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gleaner_domain::error::{Error, Result};

pub use local::{Change, LocalBackend, Schedule};
pub use slurm::SlurmBackend;

use crate::config::BackendConfig;
use crate::core::PilotId;
use crate::state_dir::StateDir;

/// A backend starts pilots, each on one idle node, and ends them when their nodes are needed. Its methods can take
/// several seconds.
pub trait Backend: Send {
    /// Requests a pilot with a wall time of `wall_s` seconds.
    fn start(&mut self, pilot: PilotId, wall_s: u64) -> Started;

    /// Ends a pilot, or withdraws its request. It is not an error if the pilot has already ended.
    ///
    /// # Errors
    /// The request cannot be made, or it is unknown whether it succeeded.
    fn cancel(&mut self, pilot: PilotId, job: Option<&str>) -> Result<()>;

    /// All pilots that are waiting, running or still being cleaned up. The list may also contain pilots that have
    /// ended.
    ///
    /// # Errors
    /// The backend does not answer.
    fn list(&mut self) -> Result<Vec<Listed>>;

    /// Whether [`list`](Backend::list) can omit a running pilot. For example, a batch scheduler that was killed may
    /// have forgotten recent jobs.
    fn can_forget(&self) -> bool {
        false
    }

    /// Whether a heterogeneous job was waiting at the last [`list`](Backend::list). The batch scheduler starts such a
    /// job only if the nodes of all of its parts are free at the same time.
    fn has_heterogeneous_job(&self) -> bool {
        false
    }

    /// Does periodic work, such as starting waiting pilots. Must be called several times a second.
    fn tick(&mut self) {}

    /// A problem that the operator must resolve before more pilots are requested. For example, a node was drained while
    /// a pilot held it. Each problem is returned once, after the call of [`list`](Backend::list) that found it.
    fn alarm(&mut self) -> Option<String> {
        None
    }
}

/// The result of a request for a pilot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Started {
    /// The backend has accepted the pilot and assigned this id to it.
    Accepted(String),
    /// The pilot was not accepted and will not start. The text is the reason.
    Rejected(String),
    /// It is unknown whether the backend has accepted the pilot. The text is the reason.
    Unknown(String),
}

/// A pilot as the backend lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Number of the pilot.
    pub pilot: PilotId,
    /// The id that the backend assigned to the pilot.
    pub job: String,
    /// Name of the pilot's node; `None` if no node is assigned to the pilot.
    pub node: Option<String>,
    /// Whether it is certain that the pilot and all of its processes have ended.
    pub has_ended: bool,
    /// Seconds until a reservation of the node begins; `None` if no reservation begins soon.
    pub reserved_in_s: Option<u64>,
}

/// Opens the backend that `config` selects.
///
/// # Errors
/// The event log of local nodes cannot be read, or the state directory cannot be used.
pub fn open(config: &BackendConfig, state: &Arc<StateDir>) -> Result<Box<dyn Backend>> {
    let (state, program) = (Arc::clone(state), program()?);
    Ok(match config {
        BackendConfig::Local(local) => {
            let schedule = Schedule::of(local)?;
            Box::new(LocalBackend::new(state, program, schedule)?)
        }
        BackendConfig::Slurm(slurm) => Box::new(SlurmBackend::new(
            slurm,
            state.path(),
            &state.token()?,
            &program,
        )?),
    })
}

/// The command that starts a pilot, as text for a user.
pub fn describe(config: &BackendConfig, state: &Path, pilot: PilotId, wall_s: u64) -> String {
    let program = program().unwrap_or_else(|_| "gleaner".into());
    match config {
        BackendConfig::Local(_) => {
            let words = pilot_command(&program, state, pilot, wall_s);
            words.map_or_else(|error| error.to_string(), |words| quoted_line(&words))
        }
        BackendConfig::Slurm(slurm) => {
            let token = StateDir::open(state).and_then(|state| state.token());
            // Without a state directory, there is no token yet: the daemon chooses one when it starts.
            let token = token.unwrap_or_else(|_| "TOKEN".to_owned());
            let backend = SlurmBackend::new(slurm, state, &token, &program);
            let described = backend.and_then(|backend| backend.describe(pilot, wall_s));
            described.unwrap_or_else(|error| error.to_string())
        }
    }
}

/// The path of this program, which pilots also run.
fn program() -> Result<PathBuf> {
    env::current_exe().map_err(|error| Error::Run(format!("cannot locate this program: {error}")))
}

/// The command line of a pilot: the program and its arguments.
fn pilot_command(program: &Path, state: &Path, pilot: PilotId, wall_s: u64) -> Result<Vec<String>> {
    let text = |path: &Path| match path.to_str() {
        Some(text) if !text.contains(['\n', '\0']) => Ok(text.to_owned()),
        _ => Err(Error::Usage(format!(
            "{}: harvest accepts only paths in UTF-8 without line breaks",
            path.display()
        ))),
    };
    let mut words = vec![text(program)?];
    words.extend(["harvest", "pilot", "--state"].map(str::to_owned));
    words.push(text(state)?);
    words.extend(["--pilot".to_owned(), pilot.0.to_string()]);
    words.extend(["--wall".to_owned(), wall_s.to_string()]);
    Ok(words)
}

/// Joins words into a line of a shell script, and quotes those that need it.
fn quoted_line(words: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+@%".contains(c);
    let quoted: Vec<String> = words
        .iter()
        .map(|word| {
            if !word.is_empty() && word.chars().all(is_plain) {
                word.clone()
            } else {
                format!("'{}'", word.replace('\'', r"'\''"))
            }
        })
        .collect();
    quoted.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_shell_reads_quoted_words_as_they_are() {
        let words = [
            "printf",
            "%s|",
            "plain",
            "",
            "it's $HOME",
            "`id` \"x\" \\ *",
            "-n",
            "ü%a;",
        ];
        let words = words.map(str::to_owned);
        let line = quoted_line(&words);
        let output = Command::new("sh").args(["-c", &line]).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(printed, words[2..].join("|") + "|");
        assert!(line.starts_with("printf '%s|' plain ''"), "{line}");
    }

    #[test]
    fn paths_that_a_script_cannot_contain_are_refused() {
        let command = |state: &str| {
            pilot_command(Path::new("/bin/gleaner"), Path::new(state), PilotId(7), 90)
        };
        let words = command("/home/a b").unwrap();
        assert_eq!(
            words[1..],
            [
                "harvest",
                "pilot",
                "--state",
                "/home/a b",
                "--pilot",
                "7",
                "--wall",
                "90"
            ]
        );
        assert!(command("/home/a\nb").is_err());
    }
}
