//! Assigns nodes to jobs in logs that state only how many nodes each job has.
//!
//! Jobs are started in order of time, on the free nodes with the lowest indexes. For example, on a
//! machine of 8 nodes, job A has 3 nodes from second 0 to 10, job B 4 nodes from 5 to 20, and job C
//! 2 nodes from 10 to 15. A gets the nodes 0-2, and B the nodes 3-6. At second 10, A first releases
//! its nodes, so the free runs are 0-2 and 7, and C gets the nodes 0-1.

use std::collections::{BTreeMap, VecDeque};
use std::io;

use super::edge::{Edge, Hold};
use super::ranges::NodeRange;

/// The end of a job that does not end in the log.
pub const OPEN: i64 = i64::MAX;

/// A job with a known number of nodes, whose names are unknown. Jobs are ordered by start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CountedJob {
    /// Start, in seconds since 1970.
    pub start: i64,
    /// A number that distinguishes jobs that start in the same second, such as the line of the log.
    pub serial: u64,
    /// End, in seconds since 1970; [`OPEN`] if it has none.
    pub end: i64,
    /// Number of nodes.
    pub nodes: u32,
}

impl CountedJob {
    /// Its bytes, for a spill to disk.
    pub fn to_bytes(self) -> [u8; 28] {
        let mut bytes = [0; 28];
        bytes[..8].copy_from_slice(&self.start.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.serial.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.end.to_le_bytes());
        bytes[24..].copy_from_slice(&self.nodes.to_le_bytes());
        bytes
    }

    /// The job of these bytes, as written by [`CountedJob::to_bytes`].
    pub fn from_bytes(bytes: [u8; 28]) -> Self {
        CountedJob {
            start: i64::from_le_bytes(part(&bytes, 0)),
            serial: u64::from_le_bytes(part(&bytes, 8)),
            end: i64::from_le_bytes(part(&bytes, 16)),
            nodes: u32::from_le_bytes(part(&bytes, 24)),
        }
    }
}

/// The `N` bytes from index `at` on.
pub(super) fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|index| bytes[at + index])
}

/// Jobs for which too few nodes were free. They got the nodes that were free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Short {
    /// Number of such jobs.
    pub jobs: u64,
    /// Serial of the first of them, and the number of nodes that it lacked.
    pub example: Option<(u64, u32)>,
}

/// Turns jobs, sorted by start, into sorted edges. A job gets the free nodes with the lowest
/// indexes, so the same jobs always get the same nodes. Before each start, the jobs that have ended
/// by then release their nodes. Edges therefore come in order of time.
#[derive(Debug)]
pub struct Dealer<J> {
    jobs: std::iter::Fuse<J>,
    /// Runs of free nodes: number of nodes by first node.
    free: BTreeMap<u32, u32>,
    running: BTreeMap<(i64, u64), Vec<NodeRange>>,
    ready: VecDeque<Edge>,
    short: Short,
}

impl<J: Iterator<Item = io::Result<CountedJob>>> Dealer<J> {
    /// Assigns the nodes 0 to `nodes - 1` to `jobs`.
    pub fn new(jobs: J, nodes: u32) -> Self {
        let run = (nodes > 0).then_some((0, nodes));
        Dealer {
            jobs: jobs.fuse(),
            free: run.into_iter().collect(),
            running: BTreeMap::new(),
            ready: VecDeque::new(),
            short: Short::default(),
        }
    }

    /// The jobs so far that got fewer nodes than they asked for.
    pub fn short(&self) -> Short {
        self.short
    }

    /// Ends the jobs that are over at `second`.
    fn release(&mut self, second: i64) {
        while let Some(entry) = self.running.first_entry() {
            let (end, serial) = *entry.key();
            if end > second || end == OPEN {
                return;
            }
            for run in entry.remove() {
                self.ready
                    .push_back(Edge::new(end, run, Hold::Running, false, serial));
                self.give_back(run);
            }
        }
    }

    /// Makes a run of nodes free, and joins it with the free runs next to it.
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
        let mut runs = Vec::new();
        let mut wanted = job.nodes;
        while wanted > 0
            && let Some((first, count)) = self.free.pop_first()
        {
            let taken = count.min(wanted);
            if taken < count {
                self.free.insert(first + taken, count - taken);
            }
            wanted -= taken;
            runs.push(NodeRange {
                first,
                count: taken,
            });
        }
        if wanted > 0 {
            self.short.jobs += 1;
            self.short.example.get_or_insert((job.serial, wanted));
        }
        let edges = runs.iter();
        self.ready
            .extend(edges.map(|run| Edge::new(job.start, *run, Hold::Running, true, job.serial)));
        self.running.insert((job.end, job.serial), runs);
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

    fn deal(nodes: u32, jobs: &[(i64, i64, u32)]) -> (Vec<(i64, u32, u32, bool)>, Short) {
        let jobs = (0..).zip(jobs).map(|(serial, &(start, end, nodes))| {
            Ok(CountedJob {
                start,
                serial,
                end,
                nodes,
            })
        });
        let mut dealer = Dealer::new(jobs, nodes);
        let edges = dealer.by_ref().map(|edge| edge.unwrap());
        let edges = edges
            .map(|e| (e.second(), e.run().first, e.run().count, e.starts()))
            .collect();
        (edges, dealer.short())
    }

    // Fixed examples.
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
    fn a_job_too_large_gets_all_free_nodes() {
        let (edges, short) = deal(3, &[(0, 10, 2), (1, 5, 4)]);
        assert_eq!(edges[1], (1, 2, 1, true));
        assert_eq!(
            short,
            Short {
                jobs: 1,
                example: Some((1, 3))
            }
        );
    }
}
