//! Runs the program on hostile input with a time limit and an address space of 4 GiB.

use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// Limit on the program's address space, in KiB.
const MEMORY: u32 = 4 << 20;

/// Time after which a run counts as hanging, even on a busy machine.
const HANG: Duration = Duration::from_secs(300);

/// A finished run.
pub struct Attack {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// The command `gleaner LINE` in `directory`, with bounded memory.
pub fn bounded(directory: &Path, line: &str) -> Command {
    let script = format!("ulimit -v {MEMORY} && exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_gleaner")]);
    command.args(line.split_whitespace());
    // The stacks and memory pools of many threads also take address space.
    command.envs([("RAYON_NUM_THREADS", "2"), ("MALLOC_ARENA_MAX", "2")]);
    command.current_dir(directory).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs `gleaner LINE`. The program must end by itself with a documented exit code and without a panic, and must not
/// print terminal control characters.
#[track_caller]
pub fn attack(directory: &Path, line: &str) -> Attack {
    let found = end(bounded(directory, line).spawn().unwrap(), line);
    let Attack { code, out, err } = &found;
    assert!((0..=3).contains(code), "{line}: exit code {code}\n{err}");
    assert!(!err.contains("panicked"), "{line}\n{err}");
    assert!(*code == 0 || !err.is_empty(), "{line}: no word");
    for text in [out, err] {
        let obeyed = text.chars().find(|c| is_obeyed(*c));
        assert_eq!(obeyed, None, "{line}\n{}", text.escape_debug());
    }
    found
}

/// Waits for a child. A child that hangs is killed, and the test fails.
#[track_caller]
pub fn end(mut child: Child, line: &str) -> Attack {
    let mut pipes = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let read = |pipe: &mut dyn Read| {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let err = thread::spawn(move || read(&mut pipes.1));
    let out = thread::spawn(move || read(&mut pipes.0));
    let (done, ended) = mpsc::channel();
    let id = child.id().to_string();
    let guard = thread::spawn(move || {
        let hangs = ended.recv_timeout(HANG).is_err();
        if hangs {
            Command::new("kill").args(["-9", &id]).status().unwrap();
        }
        hangs
    });
    let status = child.wait().unwrap();
    let _ = done.send(());
    assert!(!guard.join().unwrap(), "{line}: no end");
    let (out, err) = (out.join().unwrap(), err.join().unwrap());
    let code = status.code().unwrap_or_else(|| {
        panic!("{line}: ended by signal {:?}\n{err}", status.signal());
    });
    Attack { code, out, err }
}

fn is_obeyed(c: char) -> bool {
    let bidi = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    bidi || c.is_control() && c != '\n'
}

/// The samples of the repository, and a small cluster in `trace`.
pub fn samples() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    copy(&dataset(), directory.path());
    fs::rename(
        directory.path().join("cluster"),
        directory.path().join("trace"),
    )
    .unwrap();
    directory
}

pub fn dataset() -> PathBuf {
    gleaner_testing::workspace().join("dataset")
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let from = entry.unwrap().path();
        let to = to.join(from.file_name().unwrap());
        if from.is_dir() {
            fs::create_dir(&to).unwrap();
            copy(&from, &to);
        } else {
            fs::copy(from, to).unwrap();
        }
    }
}

/// Writes a gzip file of `before`, `count` copies of `unit`, and `after`. A block of one mebibyte is compressed only
/// once and then repeated. This works because several gzip members decompress to one text.
pub fn gzip(path: &Path, before: &str, unit: &[u8], count: u64, after: &str) {
    let units = (1 << 20) / unit.len();
    let (blocks, rest) = (count / units as u64, count % units as u64);
    let block = member(&unit.repeat(units));
    let mut bytes = member(before.as_bytes());
    for _ in 0..blocks {
        bytes.extend_from_slice(&block);
    }
    bytes.extend(member(
        &[&unit.repeat(rest as usize), after.as_bytes()].concat(),
    ));
    fs::write(path, bytes).unwrap();
}

/// A member of a gzip file.
fn member(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

pub fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The state of a run directory.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum State {
    /// There is no `run.json`.
    Fresh,
    /// `run.json` marks the run as unfinished.
    Unfinished,
    /// The directory contains exactly one complete run.
    Whole,
}

/// The state of a run directory, determined without any code of the program. Every file that `run.json` lists must have
/// the listed digest, and there must be no other files.
#[track_caller]
pub fn state(run: &Path) -> State {
    let path = run.join("run.json");
    if !path.exists() {
        return State::Fresh;
    }
    let info = json(&path);
    if info["unfinished"] == true {
        assert_ne!(info["complete"], true, "{info}");
        return State::Unfinished;
    }
    let mut listed = vec!["run.json".to_owned()];
    for file in info["files"].as_array().unwrap() {
        let name = file["path"].as_str().unwrap();
        let bytes = fs::read(run.join(name)).unwrap();
        let digest: String = Sha256::digest(&bytes)
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        assert_eq!(
            file["sha256"], digest,
            "{name} does not have the digest in run.json"
        );
        listed.push(name.to_owned());
    }
    for name in files(run) {
        // Two kinds of files need not be listed: the temporary files of a killed run, and the results of a sweep's
        // runs, which contain digests.
        let is_part = name.ends_with(".part");
        let is_stored = info["command"] == "sweep" && name.ends_with(".records");
        assert!(
            listed.contains(&name) || is_part || is_stored,
            "run.json does not list {name}"
        );
    }
    State::Whole
}

/// Names of the files in a directory and its folders, such as `logs/a.csv`.
pub fn files(directory: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            names.extend(files(&path).iter().map(|inner| format!("{name}/{inner}")));
        } else {
            names.push(name);
        }
    }
    names.sort();
    names
}
