//! How many jobs wait for nodes, over time.

use std::io;

use super::sort::{Packed, Pass, Sorted, Sorter, Stored, spill_error};
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
pub(super) struct Wait {
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

    /// The changes in order; `None` if no job states its submission.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub fn finish(self) -> Result<Option<Waits>> {
        if !self.is_known {
            return Ok(None);
        }
        self.changes.finish().map(Waits).map(Some)
    }
}

/// The changes of the jobs that wait, in order.
pub(super) struct Waits(Sorted<Wait>);

impl Waits {
    /// Stores the changes, so that they can be read several times.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub fn store(self) -> Result<StoredWaits> {
        Stored::new(self.0).map(StoredWaits)
    }

    /// The jobs that wait, over time.
    pub fn jobs(self) -> PendingJobs<Sorted<Wait>> {
        PendingJobs::new(self.0)
    }
}

/// Changes that can be read several times.
pub(super) struct StoredWaits(Stored<Wait>);

impl StoredWaits {
    /// The jobs that wait, over time.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub fn jobs(&mut self) -> Result<PendingJobs<Pass<'_, Wait>>> {
        self.0.pass().map(PendingJobs::new)
    }
}

/// The jobs that wait in a log.
pub(super) enum PendingQueue {
    /// The log has no submissions.
    Unknown,
    /// Changes that can be read once.
    Once(PendingJobs<Sorted<Wait>>),
    /// Changes that can be read several times.
    Stored(StoredWaits),
}

/// The jobs that wait, from the beginning of the log.
pub(super) enum Waiters<'q> {
    Unknown,
    Once(&'q mut PendingJobs<Sorted<Wait>>),
    Stored(PendingJobs<Pass<'q, Wait>>),
}

impl PendingQueue {
    /// Begins a pass.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub fn begin(&mut self) -> Result<Waiters<'_>> {
        Ok(match self {
            PendingQueue::Unknown => Waiters::Unknown,
            PendingQueue::Once(jobs) => Waiters::Once(jobs),
            PendingQueue::Stored(waits) => Waiters::Stored(waits.jobs()?),
        })
    }
}

impl Waiters<'_> {
    /// The jobs that wait at the end of a second, which must not be before the last one asked for; `None` if the log
    /// has no submissions.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub fn at(&mut self, second: i64) -> Result<Option<Waiting>> {
        match self {
            Waiters::Unknown => Ok(None),
            Waiters::Once(jobs) => jobs.at(second).map(Some),
            Waiters::Stored(jobs) => jobs.at(second).map(Some),
        }
    }
}

/// The jobs that wait, from second to second.
pub(super) struct PendingJobs<I: Iterator> {
    changes: std::iter::Peekable<I>,
    waiting: Waiting,
}

impl<I: Iterator<Item = io::Result<Wait>>> PendingJobs<I> {
    fn new(changes: I) -> Self {
        PendingJobs {
            changes: changes.peekable(),
            waiting: Waiting::default(),
        }
    }

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
