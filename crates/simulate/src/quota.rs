//! Chooses the jobs that keep or get GPUs, for the preemptive policies.
//!
//! The rule is one pass over all running and waiting jobs in a common order. Each job takes its GPUs if enough of the
//! total are left; otherwise it takes no GPUs. Running jobs that take no GPUs are preempted; waiting jobs that take
//! their GPUs are chosen to start. For example, suppose that there are 8 GPUs. In order, the jobs are a running job
//! with 4 GPUs, a waiting job with 8, a waiting job with 2, and a running job with 4. The first job takes 4, the
//! second is refused, and the third takes 2. The last is preempted, because only 2 are left.
//!
//! [`select`] finds the same jobs without visiting each one. It steps through the order from one decision to the next.
//! Each decision concerns one of two jobs:
//! - The next running job that does not fit. [`Running`] keeps sums of GPUs over blocks of
//!   consecutive running jobs, so that blocks in which all jobs fit can be skipped.
//! - The next waiting job. [`Waiting`] keeps waiting jobs by number of GPUs. The number of GPUs
//!   left only shrinks along the order. Once a waiting job is refused, all later waiting jobs with the
//!   same number of GPUs would be refused too, so they are not visited.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};

/// Maximum number of entries in a block; a larger block is split.
const BLOCK: usize = 64;

/// Running jobs in order. The GPUs of all jobs before a given position can be summed without visiting
/// each job.
#[derive(Debug, Clone)]
pub struct Running<K> {
    /// Consecutive, non-empty pieces of the order.
    blocks: Vec<Block<K>>,
    gpus: u64,
}

#[derive(Debug, Clone)]
struct Block<K> {
    entries: Vec<Entry<K>>,
    gpus: u64,
}

/// A running job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<K> {
    /// The job's unique position in the order.
    pub key: K,
    /// Index of the job.
    pub job: usize,
    /// Number of GPUs of the job.
    pub gpus: u32,
}

impl<K> Default for Running<K> {
    fn default() -> Self {
        Running {
            blocks: Vec::new(),
            gpus: 0,
        }
    }
}

impl<K: Ord + Copy> Running<K> {
    /// Adds a job at its position in the order.
    pub fn insert(&mut self, entry: Entry<K>) {
        if self.blocks.is_empty() {
            self.blocks.push(Block {
                entries: Vec::new(),
                gpus: 0,
            });
        }
        let index = self.block_of(&entry.key).min(self.blocks.len() - 1);
        let block = &mut self.blocks[index];
        let place = block.place_of(&entry.key);
        block.entries.insert(place, entry);
        block.gpus += u64::from(entry.gpus);
        self.gpus += u64::from(entry.gpus);
        if block.entries.len() > BLOCK {
            let upper = block.split();
            self.blocks.insert(index + 1, upper);
        }
    }

    /// Removes the job at a position.
    pub fn remove(&mut self, key: &K) {
        let index = self.block_of(key);
        let Some(block) = self.blocks.get_mut(index) else {
            return;
        };
        let place = block.place_of(key);
        if block
            .entries
            .get(place)
            .is_some_and(|entry| entry.key == *key)
        {
            let gpus = u64::from(block.entries.remove(place).gpus);
            block.gpus -= gpus;
            self.gpus -= gpus;
            if block.entries.is_empty() {
                self.blocks.remove(index);
            }
        }
    }

    /// Number of GPUs of the jobs before a position.
    fn gpus_before(&self, key: &K) -> u64 {
        let index = self.block_of(key);
        let before: u64 = self.blocks[..index].iter().map(|block| block.gpus).sum();
        let within = self.blocks.get(index).map_or(0, |block| {
            let entries = &block.entries[..block.place_of(key)];
            entries.iter().map(|entry| u64::from(entry.gpus)).sum()
        });
        before + within
    }

    /// The first job after position `after` that, together with all jobs before it, has more than `budget` GPUs.
    fn first_beyond(&self, after: Option<&K>, budget: u64) -> Option<Entry<K>> {
        if self.gpus <= budget {
            return None;
        }
        let mut sum = 0;
        for block in &self.blocks {
            let skipped = block.gpus + sum <= budget
                || after.is_some_and(|after| block.entries.last().is_some_and(|e| e.key <= *after));
            if skipped {
                sum += block.gpus;
                continue;
            }
            for entry in &block.entries {
                sum += u64::from(entry.gpus);
                if sum > budget && after.is_none_or(|after| entry.key > *after) {
                    return Some(*entry);
                }
            }
        }
        None
    }

    /// The first block whose last entry is not before a position.
    fn block_of(&self, key: &K) -> usize {
        let before = |block: &Block<K>| block.entries.last().is_some_and(|last| last.key < *key);
        self.blocks.partition_point(before)
    }
}

impl<K: Ord> Block<K> {
    fn place_of(&self, key: &K) -> usize {
        self.entries.partition_point(|entry| entry.key < *key)
    }

    fn split(&mut self) -> Self {
        let entries = self.entries.split_off(BLOCK / 2);
        let gpus = entries.iter().map(|entry| u64::from(entry.gpus)).sum();
        self.gpus -= gpus;
        Block { entries, gpus }
    }
}

/// Waiting jobs by number of GPUs; jobs with the same number are in order.
#[derive(Debug, Clone)]
pub struct Waiting<K> {
    classes: BTreeMap<u32, BTreeSet<(K, usize)>>,
}

impl<K> Default for Waiting<K> {
    fn default() -> Self {
        Waiting {
            classes: BTreeMap::new(),
        }
    }
}

impl<K: Ord + Copy> Waiting<K> {
    /// Adds a job at a position in the order.
    pub fn insert(&mut self, key: K, job: usize, gpus: u32) {
        self.classes.entry(gpus).or_default().insert((key, job));
    }

    /// Removes a job that was added with this position and number of GPUs.
    pub fn remove(&mut self, key: K, job: usize, gpus: u32) {
        if let Some(class) = self.classes.get_mut(&gpus) {
            class.remove(&(key, job));
            if class.is_empty() {
                self.classes.remove(&gpus);
            }
        }
    }

    /// Whether no job is waiting.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }
}

/// The jobs to preempt and the jobs to start, both in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// Running jobs that must give up their GPUs.
    pub preempted: Vec<usize>,
    /// Waiting jobs that get GPUs.
    pub chosen: Vec<usize>,
}

/// Selects the jobs to preempt and to start. Visits the running and the waiting jobs in one common order, and gives
/// each job its GPUs if enough of the `total` GPUs are left.
///
/// `place` maps the stored key of a waiting job to the job's current position, and must preserve the order among
/// waiting jobs. There is one step for each preempted job, for each chosen job, and for each distinct number of GPUs
/// that waiting jobs request. A step visits blocks of running jobs, not every job.
pub fn select<K: Ord + Copy>(
    total: u64,
    running: &Running<K>,
    waiting: &Waiting<K>,
    place: impl Fn(K) -> K,
) -> Selection {
    let mut selection = Selection::default();
    let mut heads: Vec<Head<'_, K>> = waiting.classes.iter().filter_map(Head::of).collect();
    // GPUs of the waiting jobs chosen so far, and GPUs of the running jobs preempted so far.
    let (mut chosen, mut freed) = (0, 0);
    let mut after = None;
    loop {
        // The next running job that does not fit. GPUs of chosen jobs reduce the budget; GPUs of
        // preempted jobs increase it.
        let beyond = running.first_beyond(after.as_ref(), (total + freed).saturating_sub(chosen));
        let head = heads.iter_mut().min_by_key(|head| place(head.first.0));
        match (head, beyond) {
            // A waiting job comes before this running job: the waiting job is chosen if it fits.
            (Some(head), beyond) if beyond.is_none_or(|entry| place(head.first.0) < entry.key) => {
                let key = place(head.first.0);
                let used = running.gpus_before(&key) + chosen - freed;
                let gpus = head.gpus;
                if used + u64::from(gpus) <= total {
                    selection.chosen.push(head.first.1);
                    chosen += u64::from(gpus);
                    after = Some(key);
                    if head.advance() {
                        continue;
                    }
                }
                // The job was refused, or it was the last job with this number of GPUs. No further job with this number
                // is considered.
                heads.retain(|head| head.gpus != gpus);
            }
            (_, Some(entry)) => {
                selection.preempted.push(entry.job);
                freed += u64::from(entry.gpus);
                after = Some(entry.key);
            }
            (_, None) => return selection,
        }
    }
}

/// The waiting jobs that request the same number of GPUs, starting with the first that has not been
/// considered yet.
struct Head<'a, K> {
    gpus: u32,
    first: (K, usize),
    class: &'a BTreeSet<(K, usize)>,
}

impl<'a, K: Ord + Copy> Head<'a, K> {
    fn of((&gpus, class): (&u32, &'a BTreeSet<(K, usize)>)) -> Option<Self> {
        let first = *class.first()?;
        Some(Head { gpus, first, class })
    }

    /// Moves on to the next job. Returns whether a next job exists.
    fn advance(&mut self) -> bool {
        let next = self.class.range((Excluded(self.first), Unbounded)).next();
        next.inspect(|&&next| self.first = next).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Applies the rule directly, in one pass over one list of all jobs.
    fn plain(total: u64, mut jobs: Vec<(u32, bool, usize, u32)>) -> Selection {
        jobs.sort_unstable();
        let mut left = total;
        let mut selection = Selection::default();
        for (_, runs, job, gpus) in jobs {
            if u64::from(gpus) <= left {
                left -= u64::from(gpus);
                if !runs {
                    selection.chosen.push(job);
                }
            } else if runs {
                selection.preempted.push(job);
            }
        }
        selection
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(600))]

        #[test]
        fn selecting_equals_one_pass_over_a_sorted_list(
            running in prop::collection::vec((0u32..60, 1u32..9), 0..300),
            waiting in prop::collection::vec((0u32..60, 1u32..9), 0..60),
            spare in 0u64..30,
            removed in prop::collection::vec(any::<prop::sample::Index>(), 0..100),
        ) {
            let mut jobs: Vec<_> = running.iter().map(|&(k, g)| (k, true, g))
                .chain(waiting.iter().map(|&(k, g)| (k, false, g)))
                .enumerate()
                .map(|(job, (key, runs, gpus))| (key, runs, job, gpus))
                .collect();
            let (mut ledger, mut queue) = (Running::default(), Waiting::default());
            for &(key, runs, job, gpus) in &jobs {
                let key = (key, runs, job);
                if runs {
                    ledger.insert(Entry { key, job, gpus });
                } else {
                    queue.insert(key, job, gpus);
                }
            }
            for index in removed {
                if jobs.is_empty() {
                    break;
                }
                let (key, runs, job, gpus) = jobs.swap_remove(index.index(jobs.len()));
                if runs {
                    ledger.remove(&(key, runs, job));
                } else {
                    queue.remove((key, runs, job), job, gpus);
                }
            }
            let held: u64 = jobs.iter().filter(|j| j.1).map(|j| u64::from(j.3)).sum();
            prop_assert_eq!(ledger.gpus, held);
            let total = held.saturating_sub(5) + spare;
            prop_assert_eq!(select(total, &ledger, &queue, |key| key), plain(total, jobs));
        }
    }
}
