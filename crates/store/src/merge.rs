//! Merges many segments into one.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gleaner_domain::Digest;
use gleaner_domain::error::{Error, Result};
use gleaner_io::files::{self, open_regular};
use serde::de::IgnoredAny;

use crate::record::{Record, parse};
use crate::{ENDING, Found, RunKey, Store, lines};

/// Prefix of the names of merged segments. No process appends to merged segments.
const MERGED: &str = "merged-";

impl Store {
    /// Merges all segments that no longer have a writer into one segment. The merged segment keeps only the results,
    /// and the starts of runs that were restarted.
    ///
    /// A segment with a run that `is_wanted` rejects belongs to another plan and is kept. A segment to which a
    /// [`Writer`](crate::Writer) may still append is also kept: such a segment is locked. On a file system without file
    /// locks, only segments whose process recorded its end are merged. No result is lost, even if the merge is killed.
    ///
    /// # Errors
    /// A segment cannot be read, written or removed.
    pub fn merge(&self, is_wanted: impl Fn(&RunKey) -> bool) -> Result<()> {
        // Merging removes files. If the folder is a symbolic link, these files do not belong to the sweep.
        if self.folder.is_symlink() {
            return Ok(());
        }
        let mut old = Vec::new();
        for segment in self.segments()? {
            let is_ours = may_merge(&segment, &is_wanted);
            if is_ours.map_err(|error| Error::io("read", &segment, error))? {
                old.push(segment);
            }
        }
        if old.len() < 2 {
            return Ok(());
        }
        self.write_merged(&old)?;
        // The merged segment is complete before the old segments are removed. If the process is killed in between,
        // some results are stored twice, and readers use the first copy.
        for segment in &old {
            fs::remove_file(segment).map_err(|error| Error::io("remove", segment, error))?;
        }
        Ok(())
    }

    /// Writes one segment with the results of `old`.
    fn write_merged(&self, old: &[PathBuf]) -> Result<()> {
        let begun = Found::<IgnoredAny>::in_segments(old, |_| true)?.begun;
        let names: Vec<u8> = old
            .iter()
            .flat_map(|path| path.as_os_str().as_encoded_bytes().to_vec())
            .collect();
        let name = format!("{MERGED}{}{ENDING}", &Digest::of(&names).to_string()[..12]);
        files::write(&self.folder.join(name), |out| {
            // A single start needs no record, because only restarts are counted.
            for (run, times) in begun.iter().filter(|(_, times)| **times > 1) {
                let line = Record::Begun(*run).line()?;
                (0..*times).try_for_each(|_| out.write_all(line.as_bytes()))?;
            }
            let mut written = BTreeSet::new();
            let mut outcome = Ok(());
            for segment in old {
                lines::read(segment, 0, |line| {
                    if let Some(Record::Done(done)) = parse(line)
                        && outcome.is_ok()
                        && written.insert(done.run)
                    {
                        outcome = out.write_all(line);
                    }
                })?;
            }
            outcome
        })?;
        files::sync_directory(&self.folder);
        Ok(())
    }
}

/// Whether a segment has no writer and contains only wanted runs.
fn may_merge(segment: &Path, is_wanted: impl Fn(&RunKey) -> bool) -> io::Result<bool> {
    // Some network file systems can lock only files that are open for writing.
    let file = open_regular(segment, OpenOptions::new().read(true).write(true));
    let file = match file {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    // The lock need not be held for the whole merge. Writers lock a segment before they name it, so a segment without a
    // lock has no writer and never gets one.
    let lock = file.try_lock();
    let name = segment.file_name().unwrap_or_default().to_string_lossy();
    let is_merged = name.starts_with(MERGED);
    let (mut is_ours, mut has_ended) = (true, is_merged);
    lines::read(segment, 0, |line| {
        let record = parse(line);
        has_ended = is_merged || matches!(record, Some(Record::Ended(_)));
        is_ours &= record.as_ref().and_then(Record::run).is_none_or(&is_wanted);
    })?;
    Ok(is_ours && is_over(lock, has_ended))
}

/// Whether another process holds the lock of a segment, and so may still append to it. Returns false if
/// this cannot be determined.
pub(crate) fn has_writer(segment: &Path) -> bool {
    let file = open_regular(segment, OpenOptions::new().read(true));
    file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Whether the writer of a segment has ended, based on an attempt to lock the segment and on its last
/// record.
fn is_over(lock: Result<(), TryLockError>, has_ended: bool) -> bool {
    match lock {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(_)) => has_ended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_locks_only_a_noted_end_counts() {
        let unsupported = || Err(TryLockError::Error(io::ErrorKind::Unsupported.into()));
        assert!(is_over(Ok(()), false));
        assert!(!is_over(Err(TryLockError::WouldBlock), true));
        assert!(is_over(unsupported(), true) && !is_over(unsupported(), false));
    }
}
