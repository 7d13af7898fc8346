//! Recognises lines that occur in several files of a log, for example in overlapping monthly files.

use std::hash::{DefaultHasher, Hash, Hasher};

use indexmap::IndexSet;

/// Maximum number of lines whose digests are kept. The digests take at most 300 MiB. In a longer
/// log, duplicates of later lines are not recognised.
const MOST: usize = 8 << 20;

/// The lines that have been read so far, by digest.
#[derive(Debug, Default)]
pub(super) struct Duplicates {
    /// 64-bit digests. Among a million lines, the probability that two different lines share a digest is 3e-8.
    seen: IndexSet<u64>,
}

impl Duplicates {
    /// Adds a line, or the cells of a row. Returns whether the same line had been added before.
    pub fn has(&mut self, line: impl Hash) -> bool {
        let mut hasher = DefaultHasher::new();
        line.hash(&mut hasher);
        let digest = hasher.finish();
        if self.seen.len() < MOST {
            !self.seen.insert(digest)
        } else {
            self.seen.contains(&digest)
        }
    }
}
