//! Runs the program and looks at what it leaves.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A finished run of the program.
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
        assert_eq!(
            self.code,
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.out,
            self.err
        );
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }

    /// Asserts that every word is in what the user is told.
    #[track_caller]
    pub fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.err.contains(word), "no {word:?} in:\n{}", self.err);
        }
        self
    }
}

pub fn command(directory: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gleaner"));
    command.current_dir(directory).args(line.split_whitespace());
    command
}

/// Runs `gleaner LINE` in `directory`.
pub fn gleaner(directory: &Path, line: &str) -> Run {
    command(directory, line)
        .stdin(Stdio::null())
        .output()
        .unwrap()
        .into()
}

pub fn with_stdin(directory: &Path, line: &str, text: &str) -> Run {
    fs::write(directory.join("stdin"), text).unwrap();
    let stdin = fs::File::open(directory.join("stdin")).unwrap();
    command(directory, line)
        .stdin(stdin)
        .output()
        .unwrap()
        .into()
}

/// A directory with the samples of dataset/ in it.
pub fn samples() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for name in ["idle.csv", "tasks.toml", "problems.jsonl"] {
        fs::copy(dataset().join(name), directory.path().join(name)).unwrap();
    }
    directory
}

pub fn dataset() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dataset")
}

pub fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// All files of a run but those that hold wall times.
pub fn stable_files(run: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(run)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|e| {
            (
                e.file_name().into_string().unwrap(),
                fs::read(e.path()).unwrap(),
            )
        })
        .filter(|(name, _)| name != "run.json" && !name.starts_with("timings"))
        .collect();
    files.sort();
    files
}

/// A directory with the sample of a cluster in its folder `trace`.
pub fn cluster() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("trace");
    fs::create_dir(&trace).unwrap();
    for entry in fs::read_dir(dataset().join("cluster")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), trace.join(entry.file_name())).unwrap();
    }
    directory
}

/// Changes the cells of a line, counting from 1, of a CSV file without quotes.
pub fn change_line(file: &Path, line: usize, change: impl FnOnce(&mut Vec<String>)) {
    let text = fs::read_to_string(file).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut cells = lines[line - 1].split(',').map(str::to_owned).collect();
    change(&mut cells);
    lines[line - 1] = cells.join(",");
    fs::write(file, lines.join("\n") + "\n").unwrap();
}
