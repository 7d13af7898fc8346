//! Assigns nodes to jobs in logs that state only how many nodes each job used.
//!
//! Jobs start in chronological order, on the free nodes with the lowest indexes. For example, a machine has 8 nodes.
//! Job A uses 3 nodes from second 0 to 10, job B uses 4 nodes from 5 to 20, and job C uses 2 nodes from 10 to 15. Job A
//! gets nodes 0-2, and job B gets nodes 3-6. At second 10, job A first releases its nodes, so nodes 0-2 and 7 are free,
//! and job C gets nodes 0-1.
//!
//! If too few nodes are free for a job, it gets the free nodes at once, and the remaining nodes as soon as other jobs
//! release them. A node is therefore idle only if no job lacks nodes. On a machine of M nodes whose running jobs use U
//! nodes in total, max(0, M - U) nodes are idle. For example, on a machine of 4 nodes, job A uses 3 nodes from second 0
//! to 10, and job B uses 2 nodes from 5 to 20. At second 5, job B gets node 3; at second 10, it gets node 0.

use std::collections::{BTreeMap, VecDeque};
use std::io;

use super::edge::{Edge, Hold};
use super::ranges::NodeRange;

/// The value of [`CountedJob::end`] for a job that does not end in the log.
pub const OPEN: i64 = i64::MAX;

/// A job for which the log states how many nodes it used, but not which. Jobs are ordered by start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CountedJob {
    /// Start, in seconds since 1970.
    pub start: i64,
    /// A number that distinguishes jobs that start in the same second, such as the line number in the log.
    pub serial: u64,
    /// End, in seconds since 1970; [`OPEN`] if the job has no end.
    pub end: i64,
    /// Number of nodes.
    pub nodes: u32,
    /// Number of cores; 0 if the log does not state it.
    pub cores: u32,
}

impl CountedJob {
    /// Encodes the job as bytes, to spill it to disk.
    pub fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&self.start.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.serial.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.end.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.nodes.to_le_bytes());
        bytes[28..].copy_from_slice(&self.cores.to_le_bytes());
        bytes
    }

    /// Decodes a job from bytes that [`CountedJob::to_bytes`] returned.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        CountedJob {
            start: i64::from_le_bytes(part(&bytes, 0)),
            serial: u64::from_le_bytes(part(&bytes, 8)),
            end: i64::from_le_bytes(part(&bytes, 16)),
            nodes: u32::from_le_bytes(part(&bytes, 24)),
            cores: u32::from_le_bytes(part(&bytes, 28)),
        }
    }
}

/// The `N` bytes that start at index `at`.
pub(super) fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|index| bytes[at + index])
}

/// Jobs for which too few nodes were free when they started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Short {
    /// Number of such jobs.
    pub jobs: u64,
    /// Serial number of the first such job, and the number of nodes that it lacked.
    pub example: Option<(u64, u32)>,
}

/// Turns jobs, sorted by start, into sorted edges. A job gets the free nodes with the lowest
/// indexes, so the same jobs always get the same nodes. Before each start, the jobs that have ended
/// by then release their nodes. The edges are therefore in chronological order.
#[derive(Debug)]
pub struct Dealer<J> {
    jobs: std::iter::Fuse<J>,
    /// Runs of free nodes: the length of each run, by its first node.
    free: BTreeMap<u32, u32>,
    /// The running jobs, by end and serial.
    running: BTreeMap<(i64, u64), Dealt>,
    /// The running jobs that have been assigned fewer nodes than the log states, by start and serial. If there are any,
    /// no node is free.
    lacking: BTreeMap<(i64, u64), Lacking>,
    ready: VecDeque<Edge>,
    short: Short,
}

/// The nodes of a running job.
#[derive(Debug)]
struct Dealt {
    start: i64,
    runs: Vec<NodeRange>,
}

/// A running job that has been assigned fewer nodes than the log states.
#[derive(Debug)]
struct Lacking {
    end: i64,
    /// Number of nodes that the job lacks.
    nodes: u32,
}

impl<J: Iterator<Item = io::Result<CountedJob>>> Dealer<J> {
    /// Assigns nodes 0 to `nodes - 1` to `jobs`.
    pub fn new(jobs: J, nodes: u32) -> Self {
        let run = (nodes > 0).then_some((0, nodes));
        Dealer {
            jobs: jobs.fuse(),
            free: run.into_iter().collect(),
            running: BTreeMap::new(),
            lacking: BTreeMap::new(),
            ready: VecDeque::new(),
            short: Short::default(),
        }
    }

    /// The jobs that have started so far on fewer nodes than they used.
    pub fn short(&self) -> Short {
        self.short
    }

    /// Ends the jobs that end at or before `second`, and assigns the nodes that they release.
    fn release(&mut self, second: i64) {
        while let Some((&(end, _), _)) = self.running.first_key_value() {
            if end > second || end == OPEN {
                return;
            }
            // First, all jobs that end in this second release their nodes.
            self.end_jobs(end);
            self.supply(end);
        }
    }

    /// Ends the jobs that end at `second`, which is the earliest end.
    fn end_jobs(&mut self, second: i64) {
        while let Some(entry) = self.running.first_entry() {
            let (end, serial) = *entry.key();
            if end != second {
                return;
            }
            let job = entry.remove();
            self.lacking.remove(&(job.start, serial));
            for run in job.runs {
                self.ready
                    .push_back(Edge::new(end, run, Hold::Running, false, serial));
                self.give_back(run);
            }
        }
    }

    /// Assigns free nodes to the jobs that lack nodes, in order of their starts.
    fn supply(&mut self, second: i64) {
        while !self.free.is_empty()
            && let Some((&(start, serial), lacking)) = self.lacking.first_key_value()
        {
            let (end, wanted) = (lacking.end, lacking.nodes);
            let lacked = self.assign(second, serial, (start, end), wanted);
            if lacked == 0 {
                self.lacking.pop_first();
            } else if let Some(lacking) = self.lacking.get_mut(&(start, serial)) {
                lacking.nodes = lacked;
            }
        }
    }

    /// Frees a run of nodes, and joins it with the adjacent free runs.
    fn give_back(&mut self, mut run: NodeRange) {
        if let Some((&first, &count)) = self.free.range(..run.first).next_back()
            && first + count == run.first
        {
            run = NodeRange {
                first,
                count: count + run.count,
            };
        }
        if let Some(count) = self.free.remove(&(run.first + run.count)) {
            run.count += count;
        }
        self.free.insert(run.first, run.count);
    }

    fn start(&mut self, job: CountedJob) {
        let lacked = self.assign(job.start, job.serial, (job.start, job.end), job.nodes);
        if lacked > 0 {
            self.short.jobs += 1;
            self.short.example.get_or_insert((job.serial, lacked));
            let lacking = Lacking {
                end: job.end,
                nodes: lacked,
            };
            self.lacking.insert((job.start, job.serial), lacking);
        }
    }

    /// Assigns up to `wanted` free nodes at `second` to the job with this serial, start and end. Returns how many
    /// nodes the job still lacks.
    fn assign(&mut self, second: i64, serial: u64, (start, end): (i64, i64), wanted: u32) -> u32 {
        let mut wanted = wanted;
        let job = self.running.entry((end, serial)).or_insert(Dealt {
            start,
            runs: Vec::new(),
        });
        while wanted > 0
            && let Some((first, count)) = self.free.pop_first()
        {
            let taken = count.min(wanted);
            if taken < count {
                self.free.insert(first + taken, count - taken);
            }
            wanted -= taken;
            let run = NodeRange {
                first,
                count: taken,
            };
            self.ready
                .push_back(Edge::new(second, run, Hold::Running, true, serial));
            job.runs.push(run);
        }
        wanted
    }
}

impl<J: Iterator<Item = io::Result<CountedJob>>> Iterator for Dealer<J> {
    type Item = io::Result<Edge>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(edge) = self.ready.pop_front() {
                return Some(Ok(edge));
            }
            match self.jobs.next() {
                Some(Ok(job)) => {
                    self.release(job.start);
                    self.start(job);
                }
                Some(Err(error)) => return Some(Err(error)),
                None => {
                    self.release(OPEN);
                    return self.ready.pop_front().map(Ok);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn deal(nodes: u32, jobs: &[(i64, i64, u32)]) -> (Vec<(i64, u32, u32, bool)>, Short) {
        let jobs = (0..).zip(jobs).map(|(serial, &(start, end, nodes))| {
            Ok(CountedJob {
                start,
                serial,
                end,
                nodes,
                cores: 0,
            })
        });
        let mut dealer = Dealer::new(jobs, nodes);
        let edges = dealer.by_ref().map(|edge| edge.unwrap());
        let edges = edges
            .map(|e| (e.second(), e.run().first, e.run().count, e.starts()))
            .collect();
        (edges, dealer.short())
    }

    // Each edge is given as its second, its first node, its number of nodes, and whether the hold starts.
    #[test]
    fn the_lowest_free_nodes_come_first() {
        let (edges, short) = deal(8, &[(0, 10, 2), (1, 4, 3), (4, 20, 4), (5, OPEN, 1)]);
        let expected = [
            (0, 0, 2, true),
            (1, 2, 3, true),
            (4, 2, 3, false),
            (4, 2, 4, true),
            (5, 6, 1, true),
            (10, 0, 2, false),
            (20, 2, 4, false),
        ];
        assert_eq!(edges, expected);
        assert_eq!(short, Short::default());
    }

    #[test]
    fn a_job_too_large_gets_nodes_as_soon_as_they_are_free() {
        let (edges, short) = deal(3, &[(0, 10, 2), (1, 20, 4), (2, 12, 1)]);
        let expected = [
            (0, 0, 2, true),
            (1, 2, 1, true),
            // The second job lacks nodes when the third job starts, so the third job gets none.
            (10, 0, 2, false),
            (10, 0, 2, true),
            (20, 2, 1, false),
            (20, 0, 2, false),
        ];
        assert_eq!(edges, expected);
        assert_eq!(
            short,
            Short {
                jobs: 2,
                example: Some((1, 3))
            }
        );
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        #[test]
        fn the_idle_nodes_are_those_that_the_counts_leave(
            nodes in 0u32..8,
            mut jobs in prop::collection::vec((0i64..20, 1i64..9, 0u32..6), 0..12),
        ) {
            jobs.sort_unstable_by_key(|job| job.0);
            let jobs: Vec<_> = jobs.into_iter().map(|(start, length, n)| (start, start + length, n)).collect();
            let (edges, _) = deal(nodes, &jobs);
            prop_assert!(edges.is_sorted_by_key(|(second, ..)| *second));
            for second in 0..30 {
                let mut holders = vec![0; nodes as usize];
                for &(_, first, count, starts) in edges.iter().filter(|edge| edge.0 <= second) {
                    for node in first..first + count {
                        holders[node as usize] += if starts { 1 } else { -1 };
                    }
                }
                prop_assert!(holders.iter().all(|holders| (0..=1).contains(holders)));
                let runs = |job: &&(i64, i64, u32)| job.0 <= second && second < job.1;
                let used: u32 = jobs.iter().filter(runs).map(|job| job.2).sum();
                let idle = holders.iter().filter(|holders| **holders == 0).count();
                prop_assert_eq!(idle as u32, nodes.saturating_sub(used), "second {}", second);
            }
        }
    }
}
