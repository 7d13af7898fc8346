//! For jobs that list fewer nodes than they used, finds the nodes that each of them may have used.
//!
//! Such a job is called short: it used `lacking` more nodes than it lists. The job held the missing nodes during its
//! whole run. They are therefore among its candidates: the nodes that nothing else held at any time during the run.
//! Three steps narrow down the candidates:
//!
//! 1. [`candidates`] sweeps over all known holds once, and keeps for each short job the nodes that stay free during its
//!    run.
//! 2. [`settle`] looks for jobs that have no more candidates than missing nodes. Such a job used all of its candidates,
//!    so they are removed from the candidates of other short jobs that run at the same time. This is repeated until
//!    nothing changes.
//! 3. The remaining jobs are called open. The log does not show which of its candidates an open job used. [`deal`]
//!    assigns candidates to each open job in place of its missing nodes, so that the log has the right number of idle
//!    nodes.
//!
//! For example, a machine has nodes 0 to 5. Job A runs from second 0 to 10, lists node 0 and lacks 2 nodes. Job B runs
//! from 5 to 20, lists node 1 and lacks 1 node. Job C runs on nodes 2 and 3 from 8 to 12. C holds nodes 2 and 3 during
//! the runs of A and B, so nodes 4 and 5 are the candidates of both jobs. A lacks 2 nodes and has 2 candidates, so it
//! used both. B then has no candidate left, although it lacks a node. The log contradicts itself, and [`settle`] counts
//! the contradiction.
//!
//! The bounds hold if jobs do not share nodes and the stated counts are correct. In that case, a node that is neither
//! held nor a candidate was idle, and a held node was busy. The bounds need not be tight. For example, two jobs run at
//! the same time, each lacks 1 node, and each has nodes 4 and 5 as candidates. Both nodes were busy, but these steps do
//! not detect that.

use std::collections::BTreeMap;

use super::OPEN;
use super::edge::{Edge, Hold};
use super::ranges::{NodeRange, merge_ranges};
use super::sweep::{Window, sweep};

/// A job that lists fewer nodes than it used. Jobs are ordered by start, then by serial.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShortJob {
    /// Start, in seconds since 1970.
    pub start: i64,
    /// A number that distinguishes jobs that start in the same second, such as the line number in the log.
    pub serial: u64,
    /// End, in seconds since 1970; [`super::OPEN`] if the job has no end.
    pub end: i64,
    /// Number of nodes that the job used but does not list; `None` if the log does not state how many it used.
    pub lacking: Option<u32>,
    /// The last node that the job lists, if any.
    pub last: Option<u32>,
}

impl ShortJob {
    /// Number of seconds for which the job ran within a window.
    pub fn seconds_in(&self, window: Window) -> u64 {
        let end = if self.end == OPEN {
            window.to
        } else {
            self.end
        };
        let end = end.min(window.to);
        let seconds = end.saturating_sub(self.start.max(window.from));
        u64::try_from(seconds).unwrap_or(0)
    }
}

/// The candidates of short jobs, and the idle node-time computed from the stated numbers of nodes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Candidates {
    /// The candidates of each job in ascending order.
    pub nodes: Vec<Vec<u32>>,
    /// Idle node-seconds of the window if jobs share no nodes. In each second, this is the number of nodes without a
    /// known hold, minus the number of nodes that short jobs lack. `None` if the log does not state for every short job
    /// how many nodes it lacks.
    pub idle_counted: Option<u64>,
    /// Whether several jobs ran on one node at the same time.
    pub are_nodes_shared: bool,
}

/// The candidates would exceed a memory limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMany;

/// Maximum total number of candidates of all jobs. At 4 bytes each, they take up to 256 MiB.
const MOST: usize = 1 << 26;
/// Maximum total size of the candidate sets of all jobs that run at the same time, in bits (256 MiB).
const MOST_BITS: usize = 1 << 31;

/// Finds the candidates of short jobs on a machine of `nodes` nodes. `jobs` must be sorted by start. `edges` must be
/// the edges of all known holds, in the order of [`Edge`].
///
/// # Errors
/// The outer error is the first error in `edges`. The inner error means that there are too many candidates.
pub fn candidates<E>(
    edges: impl IntoIterator<Item = Result<Edge, E>>,
    nodes: usize,
    jobs: &[ShortJob],
    window: Window,
) -> Result<Result<Candidates, TooMany>, E> {
    let rank: Vec<u32> = (0..nodes as u32).collect();
    let start = jobs
        .first()
        .map_or(window.from, |job| job.start.min(window.from));
    let all = Window {
        from: start,
        to: i64::MAX,
    };
    let mut search = Search::new(nodes, jobs, window);
    let mut is_first = true;
    let swept = sweep(edges, &rank, all, false, |event| {
        // Before the first event, the states of the nodes are not known.
        if !std::mem::take(&mut is_first) {
            search.advance(event.second);
        }
        for change in event.changes {
            search.change(change.node(), change.idle());
        }
        Ok(())
    })?;
    search.advance(i64::MAX);
    Ok(search.finish().map(|found| Candidates {
        are_nodes_shared: swept.overlaps.count > 0,
        ..found
    }))
}

/// The state of the search for candidates at a given second of the log.
struct Search<'a> {
    jobs: &'a [ShortJob],
    window: Window,
    free: NodeBits,
    /// Number of free nodes.
    free_count: u64,
    /// Index of the next job to start.
    next: usize,
    /// The running jobs by end and index, each with the nodes that have been free since its start.
    running: BTreeMap<(i64, usize), NodeBits>,
    /// Number of nodes that the running jobs lack.
    lacking: u64,
    /// The second up to which `idle` has been counted.
    counted: i64,
    idle: u64,
    found: Vec<Vec<u32>>,
    /// Number of candidates in `found`.
    stored: usize,
    is_full: bool,
}

impl<'a> Search<'a> {
    fn new(nodes: usize, jobs: &'a [ShortJob], window: Window) -> Self {
        Search {
            jobs,
            window,
            free: NodeBits::empty(nodes),
            free_count: 0,
            next: 0,
            running: BTreeMap::new(),
            lacking: 0,
            counted: window.from,
            idle: 0,
            found: vec![Vec::new(); jobs.len()],
            stored: 0,
            is_full: false,
        }
    }

    /// Ends the jobs that end by `second`, and starts the jobs that start before it. Must be called before the changes
    /// of that second are applied, because the changes must affect only jobs that started earlier and have not ended. A
    /// job that starts in that second is handled later, with the nodes that are free after the changes.
    fn advance(&mut self, second: i64) {
        loop {
            let start = self.jobs.get(self.next).map(|job| job.start);
            let start = start.filter(|start| *start < second);
            let end = self.running.first_key_value().map(|(key, _)| key.0);
            let end = end.filter(|end| *end <= second);
            match (start, end) {
                // Within a second, jobs end before other jobs start.
                (start, Some(end)) if start.is_none_or(|start| end <= start) => self.end(end),
                (Some(start), _) => self.start(start),
                _ => break,
            }
        }
        self.count_up_to(second);
    }

    fn start(&mut self, second: i64) {
        self.count_up_to(second);
        let job = &self.jobs[self.next];
        self.lacking += u64::from(job.lacking.unwrap_or(0));
        self.is_full |= (self.running.len() + 1) * self.free.len() > MOST_BITS;
        let candidates = if self.is_full {
            NodeBits::empty(0)
        } else {
            self.free.clone()
        };
        self.running.insert((job.end, self.next), candidates);
        self.next += 1;
    }

    fn end(&mut self, second: i64) {
        self.count_up_to(second);
        let Some(((_, job), candidates)) = self.running.pop_first() else {
            return;
        };
        self.lacking -= u64::from(self.jobs[job].lacking.unwrap_or(0));
        self.stored += candidates.count();
        self.is_full |= self.stored > MOST;
        if !self.is_full {
            self.found[job] = candidates.members();
        }
    }

    fn change(&mut self, node: u32, idle: bool) {
        if idle {
            self.free.insert(node);
            self.free_count += 1;
            return;
        }
        self.free.remove(node);
        self.free_count -= 1;
        for candidates in self.running.values_mut() {
            candidates.remove(node);
        }
    }

    fn count_up_to(&mut self, second: i64) {
        let second = second.min(self.window.to);
        if second > self.counted {
            let seconds = second.abs_diff(self.counted);
            let idle = self.free_count.saturating_sub(self.lacking);
            self.idle = self.idle.saturating_add(idle.saturating_mul(seconds));
            self.counted = second;
        }
    }

    fn finish(mut self) -> Result<Candidates, TooMany> {
        while !self.running.is_empty() {
            self.end(i64::MAX);
        }
        let is_stated = self.jobs.iter().all(|job| job.lacking.is_some());
        if self.is_full {
            return Err(TooMany);
        }
        Ok(Candidates {
            nodes: self.found,
            idle_counted: is_stated.then_some(self.idle),
            are_nodes_shared: false,
        })
    }
}

/// The result of [`settle`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settled {
    /// For each job, whether it is settled, that is, whether it used all of its candidates.
    pub is_settled: Vec<bool>,
    /// Number of jobs that have fewer candidates than missing nodes.
    pub contradictions: u64,
}

/// Settles the jobs that have no more candidates than missing nodes, and removes these candidates from other jobs that
/// run at the same time. The jobs must be sorted by start.
pub fn settle(jobs: &[ShortJob], candidates: &mut [Vec<u32>]) -> Settled {
    let mut settled = Settled {
        is_settled: vec![false; jobs.len()],
        contradictions: 0,
    };
    // For each job, the latest end among this job and all earlier jobs. If a job starts at or after this end, none of
    // these jobs overlaps it. These ends are in ascending order, so a binary search finds the first job that may
    // overlap.
    let mut latest = i64::MIN;
    let ends: Vec<i64> = jobs
        .iter()
        .map(|job| {
            latest = latest.max(job.end);
            latest
        })
        .collect();
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for (index, job) in jobs.iter().enumerate() {
            let count = candidates[index].len();
            let Some(lacking) = job.lacking.map(|lacking| lacking as usize) else {
                continue;
            };
            if settled.is_settled[index] || count > lacking {
                continue;
            }
            settled.is_settled[index] = true;
            settled.contradictions += u64::from(count < lacking);
            has_changed = true;
            let used = std::mem::take(&mut candidates[index]);
            let first = ends.partition_point(|end| *end <= job.start);
            for (other, at) in jobs[first..].iter().zip(first..) {
                if other.start >= job.end {
                    break;
                }
                if other.end > job.start && !settled.is_settled[at] {
                    candidates[at].retain(|node| used.binary_search(node).is_err());
                }
            }
            candidates[index] = used;
        }
    }
    settled
}

/// Assigns to each open job, in order, as many of its candidates as it lacks nodes. Candidates that were assigned to an
/// earlier job for an overlapping period are skipped. Candidates are taken in the order of `rank`: first those after
/// the last node that the job lists, then those before it. If the log does not state how many nodes a job used, the job
/// is assigned one node.
pub fn deal(
    jobs: &[ShortJob],
    candidates: &[Vec<u32>],
    settled: &Settled,
    rank: &[u32],
) -> Vec<Vec<u32>> {
    let place = |node: u32| rank.get(node as usize).copied().unwrap_or(node);
    // The periods for which each node has been assigned, as (start, end).
    let mut assigned: BTreeMap<u32, Vec<(i64, i64)>> = BTreeMap::new();
    let mut dealt = vec![Vec::new(); jobs.len()];
    for (index, job) in jobs.iter().enumerate() {
        if settled.is_settled[index] {
            continue;
        }
        let is_free = |node: &u32| {
            let taken = assigned.get(node).map_or(&[][..], Vec::as_slice);
            taken
                .iter()
                .all(|(start, end)| *end <= job.start || job.end <= *start)
        };
        let mut free: Vec<u32> = candidates[index].iter().copied().filter(is_free).collect();
        let is_before = |node: u32| job.last.is_some_and(|last| place(node) <= place(last));
        free.sort_unstable_by_key(|node| (is_before(*node), place(*node)));
        free.truncate(job.lacking.unwrap_or(1) as usize);
        for node in &free {
            assigned
                .entry(*node)
                .or_default()
                .push((job.start, job.end));
        }
        dealt[index] = free;
    }
    dealt
}

/// Adds the edges of a hold on `nodes` during the run of a job.
pub fn hold(edges: &mut Vec<Edge>, job: &ShortJob, nodes: &[u32], why: Hold) {
    let mut ranges: Vec<_> = nodes
        .iter()
        .map(|node| NodeRange {
            first: *node,
            count: 1,
        })
        .collect();
    merge_ranges(&mut ranges);
    for range in ranges {
        edges.push(Edge::new(job.start, range, why, true, job.serial));
        edges.push(Edge::new(job.end, range, why, false, job.serial));
    }
}

/// A set of nodes, stored as one bit per node.
#[derive(Debug, Clone)]
struct NodeBits {
    words: Vec<u64>,
}

impl NodeBits {
    fn empty(nodes: usize) -> Self {
        NodeBits {
            words: vec![0; nodes.div_ceil(64)],
        }
    }

    /// Number of bits: the number of nodes, rounded up to a multiple of 64.
    fn len(&self) -> usize {
        self.words.len() * 64
    }

    fn insert(&mut self, node: u32) {
        if let Some(word) = self.words.get_mut(node as usize / 64) {
            *word |= 1 << (node % 64);
        }
    }

    fn remove(&mut self, node: u32) {
        if let Some(word) = self.words.get_mut(node as usize / 64) {
            *word &= !(1 << (node % 64));
        }
    }

    fn count(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    fn members(&self) -> Vec<u32> {
        let bits = |(index, word): (u32, &u64)| {
            let mut word = *word;
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| word.trailing_zeros())?;
                word &= word - 1;
                Some(index * 64 + bit)
            })
        };
        (0..).zip(&self.words).flat_map(bits).collect()
    }
}
