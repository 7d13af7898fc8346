//! Logs and files for the tests.

use std::path::{Path, PathBuf};

use gleaner_domain::{Change, EventLog, EventLogBuilder, Utc};
use gleaner_inputs::events;
use tempfile::TempDir;

/// The path of a fixture or of a folder of fixtures. Names that begin with `pickle` refer to the fixtures of the crate
/// `gleaner-pandas`.
pub fn fixture(name: &str) -> PathBuf {
    let crates = gleaner_testing::workspace().join("crates");
    match Path::new(name).strip_prefix("pickle") {
        Ok(file) => crates.join("pandas/tests/fixtures").join(file),
        Err(_) => crates.join("inputs/tests/fixtures").join(name),
    }
}

/// In a fixture folder, the paths of all files whose names start with `prefix` and end with `suffix`.
pub fn fixtures(folder: &str, prefix: &str, suffix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(fixture(folder)).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with(prefix) && name.ends_with(suffix)
    });
    paths.sort();
    assert!(!paths.is_empty(), "no fixtures {folder}/{prefix}*{suffix}");
    paths
}

/// The path of a published file. If the file is missing, reports this on stderr and returns `None`.
pub fn published(name: &str) -> Option<PathBuf> {
    gleaner_testing::shared(&format!("bftrainer/{name}"))
}

/// A pickle of tasks from the fixtures. The maximum numbers of nodes of its two tasks are reduced
/// to 4 and 3, because the curves end at 4 nodes.
pub fn bounds_on_the_curve(path: &Path) -> Vec<u8> {
    let mut bytes = std::fs::read(path).unwrap();
    let pair = |first: u64, second: u64| [first.to_le_bytes(), second.to_le_bytes()].concat();
    let at = bytes
        .windows(16)
        .position(|found| found == pair(64, 32))
        .unwrap();
    bytes[at..at + 16].copy_from_slice(&pair(4, 3));
    bytes
}

/// A file with this name and content, in a temporary folder of its own.
pub fn file(name: &str, content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    (folder, path)
}

/// A log with these rows. Each row consists of a time in seconds since 1970 and the changes of nodes.
pub fn log(nodes: &[&str], rows: &[(f64, &[(u32, bool)])]) -> EventLog {
    let mut log = EventLogBuilder::new(nodes.iter().map(|node| (*node).to_owned()).collect());
    for (seconds, changes) in rows {
        let time = Utc::from_fractional_seconds(*seconds).unwrap();
        log.push_row(
            time,
            changes.iter().map(|(node, idle)| Change::new(*node, *idle)),
        );
    }
    log.finish().unwrap()
}

/// The log that the fixtures written by other programs contain.
pub fn fixture_log() -> EventLog {
    const START: f64 = 1_612_915_732.0;
    log(
        &["c05n06", "a02n02", "b07n02"],
        &[
            (START, &[(0, true), (2, true)]),
            (START + 10.0, &[(0, false)]),
            (START + 3068.5, &[(0, true), (1, true)]),
            (START + 86_400.0, &[(0, false), (2, false)]),
        ],
    )
}

/// Reads a log from a file with this name and text.
pub fn read_text(name: &str, content: impl AsRef<[u8]>) -> gleaner_domain::Result<EventLog> {
    let (_folder, path) = file(name, content);
    events::read(&path).map(|loaded| loaded.value)
}

/// The message of an error, which must be about invalid data.
pub fn fault_of<T: std::fmt::Debug>(result: gleaner_domain::Result<T>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.exit_code(), 3, "{error}");
    error.to_string()
}

/// Asserts that a message contains all of `parts`.
#[track_caller]
pub fn assert_has(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in: {message}");
    }
}
