//! A digest of an event log's content, whatever file holds it.

use sha2::{Digest as _, Sha256};

use super::{Change, EventLog, Time};
use crate::files::Digest;

/// Hashes an event log row by row.
///
/// The bytes that are hashed, numbers little-endian: of every node the length of its name
/// (8 bytes) and the name; then of every row its time in nanoseconds (8 bytes), the number
/// of its changes (8 bytes), and each change (4 bytes): twice the node's index, plus 1 where
/// the node becomes idle.
#[derive(Debug, Clone)]
pub struct Fingerprint(Sha256);

impl Fingerprint {
    /// Begins with the nodes.
    pub fn new(nodes: &[String]) -> Self {
        let mut hasher = Sha256::new();
        for name in nodes {
            hasher.update((name.len() as u64).to_le_bytes());
            hasher.update(name);
        }
        Fingerprint(hasher)
    }

    /// Adds a row.
    pub fn push_row(&mut self, time: Time, changes: &[Change]) {
        self.0.update(time.0.to_le_bytes());
        self.0.update((changes.len() as u64).to_le_bytes());
        for change in changes {
            let code = change.node() << 1 | u32::from(change.idle());
            self.0.update(code.to_le_bytes());
        }
    }

    /// The digest of all rows.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }

    /// The digest of a whole log.
    pub fn of(log: &EventLog) -> Digest {
        let mut fingerprint = Fingerprint::new(log.nodes());
        for (time, changes) in log.rows() {
            fingerprint.push_row(time, changes);
        }
        fingerprint.finish()
    }
}
