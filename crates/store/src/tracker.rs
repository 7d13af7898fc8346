//! Follows a store while other processes add to it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use gleaner_domain::error::{Error, Result};

use crate::record::{Record, parse};
use crate::{RunKey, Store, lines};

/// Tracks which runs of a store are done or have failed. Each update reads only the new records.
#[derive(Debug, Default)]
pub struct Tracker {
    /// Position up to which each segment has been read.
    read: BTreeMap<PathBuf, u64>,
    done: BTreeSet<RunKey>,
    failed: BTreeSet<RunKey>,
}

impl Tracker {
    /// Reads the records that were added since the last call.
    ///
    /// # Errors
    /// A segment cannot be read.
    pub fn update(&mut self, store: &Store) -> Result<()> {
        for segment in store.segments()? {
            let from = self.read.get(&segment).copied().unwrap_or(0);
            let (done, failed) = (&mut self.done, &mut self.failed);
            let read = lines::read(&segment, from, |line| match parse(line) {
                Some(Record::Done(record)) => drop(done.insert(record.run)),
                Some(Record::Failed { run, .. }) => drop(failed.insert(run)),
                _ => {}
            });
            let read = read.map_err(|error| Error::io("read", &segment, error))?;
            self.read.insert(segment, read);
        }
        Ok(())
    }

    /// Whether a run is done.
    pub fn is_done(&self, run: &RunKey) -> bool {
        self.done.contains(run)
    }

    /// Whether a run has failed and is not done.
    pub fn has_failed(&self, run: &RunKey) -> bool {
        self.failed.contains(run) && !self.is_done(run)
    }
}
