//! The log of a rank: the output of its program, up to a maximum size.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum size of a log, in bytes.
const MOST_BYTES: u64 = 64 << 20;

/// The log of a rank, shared by the threads that read the program's output.
#[derive(Debug)]
pub(super) struct RankLog(Mutex<Limited>);

#[derive(Debug)]
struct Limited {
    file: File,
    /// Number of bytes that can be written before the log reaches its maximum size.
    left: u64,
}

impl RankLog {
    /// Creates the log, which replaces an earlier log at the same path.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::limited(path, MOST_BYTES)
    }

    fn limited(path: &Path, left: u64) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.create(true).write(true).truncate(true).mode(0o600);
        let file = options.open(path)?;
        Ok(RankLog(Mutex::new(Limited { file, left })))
    }

    /// Writes output from the program. Output beyond the limit is dropped, as is output that cannot be written: the
    /// program must continue even if the disk is full.
    pub fn write(&self, bytes: &[u8]) {
        let mut log = self.locked();
        if log.left == 0 {
            return;
        }
        let count = (bytes.len() as u64).min(log.left);
        log.left -= count;
        let _ = log.file.write_all(&bytes[..count as usize]);
        if log.left == 0 {
            let end = "\ngleaner: this log has reached its maximum size; the rest of the output is dropped\n";
            let _ = log.file.write_all(end.as_bytes());
        }
    }

    /// Writes a line that comes from the pilot itself, marked with `gleaner:`.
    pub fn note(&self, text: &str) {
        self.write(format!("gleaner: {text}\n").as_bytes());
    }

    fn locked(&self) -> MutexGuard<'_, Limited> {
        // The value stays valid even if a thread panicked while it held the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_says_that_it_is_full() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let log = RankLog::limited(&path, 10).unwrap();
        log.write(b"1234567");
        log.write(b"89abc");
        log.write(b"more");
        log.note("more");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with("123456789a\ngleaner: this log has reached"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 2);
    }
}
