//! How many jobs wait for nodes, over time.

use std::io;
use std::iter::Peekable;

use super::sort::{Packed, Pass, Sorter, Stored, spill_error};
use gleaner_domain::Pending as Waiting;
use gleaner_domain::error::Result;

/// Collects when jobs are submitted and when they start.
pub(super) struct Pending {
    changes: Sorter<Wait>,
    /// Whether any job states its submission.
    is_known: bool,
}

/// A job is submitted, or starts. Changes are ordered by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Wait {
    second: i64,
    /// Number of nodes; negative if the job starts.
    nodes: i64,
}

impl Pending {
    /// Sorts up to `segment` changes at a time in memory.
    pub fn new(segment: usize) -> Self {
        Pending {
            changes: Sorter::new(segment),
            is_known: false,
        }
    }

    /// Adds a job of `nodes` nodes.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub fn push(&mut self, submit: i64, start: i64, nodes: usize) -> Result<()> {
        self.is_known = true;
        if submit >= start {
            return Ok(());
        }
        let nodes = i64::try_from(nodes).unwrap_or(i64::MAX).max(1);
        self.changes.push(Wait {
            second: submit,
            nodes,
        })?;
        self.changes.push(Wait {
            second: start,
            nodes: -nodes,
        })
    }

    /// The jobs that wait; `None` if no job states its submission. `again` states whether they are read more than once.
    ///
    /// # Errors
    /// A temporary file cannot be read or written.
    pub fn finish(self, again: bool) -> Result<Option<Waits>> {
        if !self.is_known {
            return Ok(None);
        }
        let changes = self.changes.finish()?;
        let changes = if again {
            Stored::new(changes)?
        } else {
            Stored::once(changes)
        };
        Ok(Some(Waits(changes)))
    }
}

/// The changes of the jobs that wait, in order.
pub(super) struct Waits(Stored<Wait>);

impl Waits {
    /// The jobs that wait, from the beginning of the log.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub fn jobs(&mut self) -> Result<PendingJobs<'_>> {
        Ok(PendingJobs {
            changes: self.0.pass()?.peekable(),
            waiting: Waiting::default(),
        })
    }
}

/// The jobs that wait, from second to second.
pub(super) struct PendingJobs<'w> {
    changes: Peekable<Pass<'w, Wait>>,
    waiting: Waiting,
}

impl PendingJobs<'_> {
    /// The jobs that wait at the end of a second, which must not be before the last one asked for.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub fn at(&mut self, second: i64) -> Result<Waiting> {
        let is_over =
            |change: &io::Result<Wait>| !matches!(change, Ok(wait) if wait.second > second);
        while let Some(change) = self.changes.next_if(is_over) {
            let change = change.map_err(spill_error)?;
            let nodes = change.nodes.unsigned_abs();
            if change.nodes > 0 {
                self.waiting.jobs += 1;
                self.waiting.nodes = self.waiting.nodes.saturating_add(nodes);
            } else {
                self.waiting.jobs = self.waiting.jobs.saturating_sub(1);
                self.waiting.nodes = self.waiting.nodes.saturating_sub(nodes);
            }
        }
        Ok(self.waiting)
    }
}

impl Packed for Wait {
    type Bytes = [u8; 16];

    fn to_bytes(self) -> Self::Bytes {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.second.to_le_bytes());
        bytes[8..].copy_from_slice(&self.nodes.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: Self::Bytes) -> Self {
        let half = |at: usize| i64::from_le_bytes(std::array::from_fn(|index| bytes[at + index]));
        Wait {
            second: half(0),
            nodes: half(8),
        }
    }
}
