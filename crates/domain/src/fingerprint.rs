//! A digest of an event log's content, independent of the format of the file that holds it.

use sha2::{Digest as _, Sha256};

use super::{Change, EventLog};
use crate::Digest;

/// Hashes an event log row by row, as it is written.
///
/// The following bytes are hashed, with little-endian numbers:
/// - for every node, the length of its name (8 bytes) and the name;
/// - if the clock is known, its description, preceded by the description's length in the same way;
/// - for every row, its time in nanoseconds (8 bytes), the number of its changes (8 bytes), and
///   each change (4 bytes): twice the node's index, plus 1 if the node becomes idle;
/// - if the quality is known, its text, preceded by the text's length in the same way;
/// - if the nodes have classes, the text that describes them, preceded by its length in the same way.
///
/// Times are in UTC if the clock is known.
#[derive(Debug, Clone)]
pub struct Fingerprint(Sha256);

impl Fingerprint {
    /// Starts the digest with the names of the nodes, and with the description of the clock if it is known.
    pub fn new(nodes: &[String], clock: Option<&str>) -> Self {
        let mut hasher = Sha256::new();
        for text in nodes.iter().map(String::as_str).chain(clock) {
            put(&mut hasher, text);
        }
        Fingerprint(hasher)
    }

    /// Adds a description of the log's quality or of its classes.
    pub fn describe(&mut self, text: &str) {
        put(&mut self.0, text);
    }

    /// Adds a row. `time` is in nanoseconds.
    pub fn push_row(&mut self, time: i64, changes: &[Change]) {
        self.0.update(time.to_le_bytes());
        self.0.update((changes.len() as u64).to_le_bytes());
        for change in changes {
            let code = change.node() << 1 | u32::from(change.idle());
            self.0.update(code.to_le_bytes());
        }
    }

    /// The digest of everything that was added.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }

    /// The digest of a whole log. `clock` is the file's description of the log's clock. `descriptions` are the file's
    /// descriptions of the log's quality and classes, if the file has any.
    ///
    /// The digest does not depend on the time zone in which the log was read. If the file describes
    /// the log's clock, the hashed times are in UTC; otherwise, they are local times.
    pub fn of<'d>(
        log: &EventLog,
        clock: Option<&str>,
        descriptions: impl IntoIterator<Item = &'d str>,
    ) -> Digest {
        let mut fingerprint = Fingerprint::new(log.nodes(), clock);
        for (time, changes) in log.rows() {
            let written = match clock {
                Some(_) => time.0,
                None => log.clock().local(time).0,
            };
            fingerprint.push_row(written, changes);
        }
        descriptions
            .into_iter()
            .for_each(|text| fingerprint.describe(text));
        fingerprint.finish()
    }
}

fn put(hasher: &mut Sha256, text: &str) {
    hasher.update((text.len() as u64).to_le_bytes());
    hasher.update(text);
}
