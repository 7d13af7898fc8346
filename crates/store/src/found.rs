//! Reads the combined content of all segments.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use gleaner_domain::error::{Error, Result};
use serde::de::DeserializeOwned;

use crate::record::{Done, Ended, PartName, Record, parse};
use crate::{RunKey, Store, lines, merge};

/// The content of a store.
#[derive(Debug)]
pub struct Found<R> {
    /// The results of the runs that are done.
    pub results: BTreeMap<RunKey, Kept<R>>,
    /// The failures of the runs that have failed and are not done.
    pub failures: BTreeMap<RunKey, Failure>,
    /// The number of times that each run was started.
    pub begun: BTreeMap<RunKey, u32>,
    /// The runs that a process is executing now. Always empty on a file system without file locks.
    pub running: BTreeSet<RunKey>,
    /// The processes that executed parts of batches, ordered by segment.
    pub parts: Vec<PartLog>,
    /// Number of lines that are damaged, or that were written in another version's format.
    pub damaged: usize,
}

/// A stored result.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept<R> {
    /// The saved result of the run.
    pub result: R,
    /// Duration of the run in seconds.
    pub seconds: f64,
}

/// The reason why a run failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Exit code that corresponds to the error.
    pub code: u8,
    /// Message of the error.
    pub message: String,
    /// The part of a batch that executed the run; `None` if the process did not belong to a batch.
    pub by: Option<PartName>,
}

/// A process that executed one part of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartLog {
    /// The part that the process executed.
    pub name: PartName,
    /// The recorded end of the process; `None` if the process is running or was killed.
    pub ended: Option<Ended>,
}

impl<R> Default for Found<R> {
    fn default() -> Self {
        Found {
            results: BTreeMap::new(),
            failures: BTreeMap::new(),
            begun: BTreeMap::new(),
            running: BTreeSet::new(),
            parts: Vec::new(),
            damaged: 0,
        }
    }
}

impl<R> Found<R> {
    /// Total number of restarts of runs after an interrupt, a kill or a failure.
    pub fn begun_again(&self) -> u64 {
        self.begun
            .values()
            .map(|&times| u64::from(times.saturating_sub(1)))
            .sum()
    }
}

impl Store {
    /// Reads all segments. Skips the runs that `is_wanted` rejects.
    ///
    /// # Errors
    /// A segment cannot be read.
    pub fn read<R: DeserializeOwned>(
        &self,
        is_wanted: impl Fn(&RunKey) -> bool,
    ) -> Result<Found<R>> {
        Found::in_segments(&self.segments()?, is_wanted)
    }
}

/// Updates `open` with the next record of a process. `open` contains the runs that the process has started and that are
/// neither done nor failed.
fn follow(
    record: Option<&Record<'_>>,
    open: &mut BTreeSet<RunKey>,
    is_wanted: &impl Fn(&RunKey) -> bool,
) {
    match record {
        Some(Record::Begun(run)) if is_wanted(run) => drop(open.insert(*run)),
        Some(Record::Done(Done { run, .. }) | Record::Failed { run, .. }) => drop(open.remove(run)),
        _ => {}
    }
}

impl<R: DeserializeOwned> Found<R> {
    /// Reads the given segments. Skips the runs that `is_wanted` rejects.
    ///
    /// # Errors
    /// A segment cannot be read.
    pub(crate) fn in_segments(
        segments: &[PathBuf],
        is_wanted: impl Fn(&RunKey) -> bool,
    ) -> Result<Self> {
        let mut found = Found::default();
        for segment in segments {
            let (mut part, mut open) = (None, BTreeSet::new());
            lines::read(segment, 0, |line| {
                let record = parse(line);
                follow(record.as_ref(), &mut open, &is_wanted);
                let read = record.and_then(|record| found.take(record, &mut part, &is_wanted));
                found.damaged += usize::from(read.is_none());
            })
            .map_err(|error| Error::io("read", segment, error))?;
            found.parts.extend(part);
            if !open.is_empty() && merge::has_writer(segment) {
                found.running.append(&mut open);
            }
        }
        let Found {
            results,
            failures,
            running,
            ..
        } = &mut found;
        failures.retain(|key, _| !results.contains_key(key));
        running.retain(|key| !results.contains_key(key) && !failures.contains_key(key));
        Ok(found)
    }

    /// Adds a record. Returns `None` if the record's result does not have the format of this version.
    fn take(
        &mut self,
        record: Record<'_>,
        part: &mut Option<PartLog>,
        is_wanted: &impl Fn(&RunKey) -> bool,
    ) -> Option<()> {
        match record {
            Record::Part(name) => *part = Some(PartLog { name, ended: None }),
            Record::Ended(ended) => {
                if let Some(part) = part {
                    part.ended = Some(ended);
                }
            }
            Record::Begun(run) if is_wanted(&run) => *self.begun.entry(run).or_default() += 1,
            Record::Failed { run, code, message } if is_wanted(&run) => {
                let by = part.as_ref().map(|part| part.name.clone());
                self.failures.insert(run, Failure { code, message, by });
            }
            Record::Done(done) if is_wanted(&done.run) => {
                let kept = Kept {
                    result: serde_json::from_str(done.result.get()).ok()?,
                    seconds: done.seconds,
                };
                self.results.entry(done.run).or_insert(kept);
            }
            Record::Begun(_) | Record::Failed { .. } | Record::Done(_) => {}
        }
        Some(())
    }
}
