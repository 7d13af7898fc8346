//! Runs the program from the command line.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The exit code, stdout and stderr of a finished run of the program.
pub struct Run {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Run {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Run {
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        let Run { out, err, .. } = &self;
        assert_eq!(self.code, Some(code), "stdout:\n{out}\nstderr:\n{err}");
        assert!(!err.contains("panicked"), "{err}");
        self
    }

    /// Asserts that stderr contains all `words`.
    #[track_caller]
    pub fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.err.contains(word), "no {word:?} in:\n{}", self.err);
        }
        self
    }
}

/// The command `gleaner LINE` in `directory`.
pub fn command(directory: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gleaner"));
    command.current_dir(directory).args(line.split_whitespace());
    command
}

/// Runs `gleaner LINE` in `directory`.
pub fn gleaner(directory: &Path, line: &str) -> Run {
    let output = command(directory, line).stdin(Stdio::null()).output();
    output.unwrap().into()
}

/// Runs `gleaner ARGUMENTS`.
pub fn run(arguments: &[impl AsRef<OsStr>]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gleaner"));
    let output = command.args(arguments).stdin(Stdio::null()).output();
    output.unwrap().into()
}
