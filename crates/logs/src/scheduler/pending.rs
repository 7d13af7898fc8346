//! Counts the jobs that are waiting for nodes, over time.

use std::io;
use std::iter::Peekable;

use super::sort::{Packed, Pass, Sorter, Stored, spill_error};
use gleaner_domain::Pending as Waiting;
use gleaner_domain::error::Result;

/// Collects the submissions and the starts of jobs.
pub(super) struct Pending {
    changes: Sorter<Wait>,
    /// Whether any job states its submission time.
    is_known: bool,
}

/// A change in the waiting jobs: a job is submitted, or starts. Changes are ordered by time. The upper bits contain the
/// second. The lowest [`NODES_BITS`] bits contain [`ZERO`] plus the number of nodes, which is negative if the job
/// starts. Sorting single numbers is faster than sorting pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Wait(i64);

/// Number of bits for the number of nodes.
const NODES_BITS: u32 = 22;
/// The value that represents 0 nodes.
const ZERO: i64 = 1 << (NODES_BITS - 1);
/// The latest second that a change can store, 69,000 years after 1970. Later times are replaced with this second.
const LATEST: i64 = i64::MAX >> NODES_BITS;

impl Wait {
    /// A change at `second`. The number of nodes is limited to 2^21 - 1.
    fn new(second: i64, nodes: i64) -> Self {
        let second = second.clamp(-LATEST, LATEST);
        Wait(second << NODES_BITS | (nodes.clamp(1 - ZERO, ZERO - 1) + ZERO))
    }

    fn second(self) -> i64 {
        self.0 >> NODES_BITS
    }

    fn nodes(self) -> i64 {
        (self.0 & ((1 << NODES_BITS) - 1)) - ZERO
    }
}

impl Pending {
    /// Creates a collector that sorts up to `segment` changes at a time in memory.
    pub fn new(segment: usize) -> Self {
        Pending {
            changes: Sorter::new(segment),
            is_known: false,
        }
    }

    /// Adds a job of `nodes` nodes that waited from `submit` to `start`. A job that did not wait only shows that the
    /// log states submission times.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub fn push(&mut self, submit: i64, start: i64, nodes: usize) -> Result<()> {
        self.is_known = true;
        if submit >= start {
            return Ok(());
        }
        let nodes = i64::try_from(nodes).unwrap_or(i64::MAX).max(1);
        self.changes.push(Wait::new(submit, nodes))?;
        self.changes.push(Wait::new(start, -nodes))
    }

    /// The waiting jobs; `None` if no job states its submission time. Set `again` if the changes will be read more than
    /// once.
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

/// The changes in the waiting jobs, in chronological order.
pub(super) struct Waits(Stored<Wait>);

impl Waits {
    /// A counter of the waiting jobs that starts at the beginning of the log.
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

/// Counts the waiting jobs at given seconds, which must be in ascending order.
pub(super) struct PendingJobs<'w> {
    changes: Peekable<Pass<'w, Wait>>,
    waiting: Waiting,
}

impl PendingJobs<'_> {
    /// The number of waiting jobs, and of the nodes that they need, at the end of `second`. Calls must be in ascending
    /// order of `second`.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub fn at(&mut self, second: i64) -> Result<Waiting> {
        let is_over =
            |change: &io::Result<Wait>| !matches!(change, Ok(wait) if wait.second() > second);
        while let Some(change) = self.changes.next_if(is_over) {
            let change = change.map_err(spill_error)?;
            let nodes = change.nodes().unsigned_abs();
            if change.nodes() > 0 {
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
    type Bytes = [u8; 8];

    fn to_bytes(self) -> Self::Bytes {
        self.0.to_le_bytes()
    }

    fn from_bytes(bytes: Self::Bytes) -> Self {
        Wait(i64::from_le_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        #[test]
        fn changes_keep_their_numbers_and_are_ordered_by_time(
            (second, nodes) in (-LATEST..=LATEST, 1 - ZERO..ZERO),
            (later, others) in (-LATEST..=LATEST, 1 - ZERO..ZERO),
        ) {
            let change = Wait::new(second, nodes);
            prop_assert_eq!((change.second(), change.nodes()), (second, nodes));
            prop_assert_eq!(Wait::from_bytes(change.to_bytes()), change);
            let order = (second, nodes).cmp(&(later, others));
            prop_assert_eq!(change.cmp(&Wait::new(later, others)), order);
        }
    }

    #[test]
    fn numbers_that_do_not_fit_are_cut() {
        let change = Wait::new(i64::MAX, i64::MIN);
        assert_eq!((change.second(), change.nodes()), (LATEST, 1 - ZERO));
    }
}
