//! The start or end of a hold on some nodes.

use std::cmp::Ordering;

use super::deal::part;
use super::ranges::NodeRange;

/// The kind of a hold on a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hold {
    /// A job runs on the node.
    Running,
    /// The node is down.
    Down,
    /// The node is up, but accepts no jobs.
    Drained,
    /// The node is reserved.
    Reserved,
    /// A job that lists fewer nodes than it used may run on the node.
    Unknown,
}

impl Hold {
    /// All kinds. A node with several holds is counted under the kind that comes first in this list.
    pub const ALL: [Hold; 5] = [
        Hold::Running,
        Hold::Down,
        Hold::Drained,
        Hold::Reserved,
        Hold::Unknown,
    ];

    /// The index of the kind in [`Hold::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// The name of the kind, in one word.
    pub fn name(self) -> &'static str {
        ["running", "down", "drained", "reserved", "unknown"][self.index()]
    }
}

/// The start or end of a hold on consecutive nodes. An edge takes 16 bytes.
///
/// Edges are sorted by time. Within a second, ends come before starts. A job that starts when another job ends
/// therefore does not appear to share nodes with that job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The highest bits contain the second, and the lowest bits contain the job's number. The bit between them is 1 if
    /// the hold starts.
    when: i64,
    first: u32,
    /// The three lowest bits contain the index of the hold's kind. The other bits contain the number of nodes.
    code: u32,
}

/// Number of low bits of a job's number that an edge keeps.
const JOB_BITS: u32 = 19;
/// The latest second that an edge can store, 278,000 years after 1970. Later times are replaced with this second.
const LATEST: i64 = i64::MAX >> (JOB_BITS + 1);
/// Maximum number of nodes of one edge.
pub(super) const MOST: u32 = u32::MAX >> 3;

impl Edge {
    /// An edge at `second`. A run of 2^29 or more nodes is truncated to 2^29 - 1 nodes. `job` is a number that
    /// identifies the job, such as its line number in the log. Only the lowest 19 bits of this number are kept. These
    /// bits distinguish the jobs that start in the same second, because such jobs are close to each other in a log.
    pub fn new(second: i64, run: NodeRange, hold: Hold, starts: bool, job: u64) -> Self {
        let job = (job & ((1 << JOB_BITS) - 1)) as i64;
        Edge {
            when: (second.clamp(-LATEST, LATEST) << 1 | i64::from(starts)) << JOB_BITS | job,
            first: run.first,
            code: run.count.min(MOST) << 3 | hold.index() as u32,
        }
    }

    /// The time of the edge, in seconds since 1970.
    pub fn second(self) -> i64 {
        self.when >> (JOB_BITS + 1)
    }

    /// The lowest 19 bits of the job's number.
    pub fn job(self) -> u32 {
        (self.when & ((1 << JOB_BITS) - 1)) as u32
    }

    /// The nodes that the hold covers.
    pub fn run(self) -> NodeRange {
        NodeRange {
            first: self.first,
            count: self.code >> 3,
        }
    }

    /// The kind of the hold.
    pub fn hold(self) -> Hold {
        Hold::ALL[(self.code & 7) as usize % Hold::ALL.len()]
    }

    /// Whether this edge is the start of the hold; false if it is the end.
    pub fn starts(self) -> bool {
        self.when >> JOB_BITS & 1 == 1
    }

    /// Encodes the edge as bytes, to spill it to disk.
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.when.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.first.to_le_bytes());
        bytes[12..].copy_from_slice(&self.code.to_le_bytes());
        bytes
    }

    /// Decodes an edge from bytes that [`Edge::to_bytes`] returned.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Edge {
            when: i64::from_le_bytes(part(&bytes, 0)),
            first: u32::from_le_bytes(part(&bytes, 8)),
            code: u32::from_le_bytes(part(&bytes, 12)),
        }
    }
}

impl Ord for Edge {
    // The sort is in another crate, so it can inline the comparison only with this attribute.
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        // Most pairs of edges differ in the first part of the key.
        let key = |edge: &Edge| (edge.when >> JOB_BITS, edge.first, edge.code, edge.when);
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Edge {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        #[test]
        fn an_edge_keeps_its_parts(
            second in -LATEST..=LATEST, first: u32, count in 0..=MOST, hold in 0usize..5, starts: bool,
            job in 0u64..1 << JOB_BITS,
        ) {
            let run = NodeRange { first, count };
            let edge = Edge::new(second, run, Hold::ALL[hold], starts, job);
            prop_assert_eq!(
                (edge.second(), edge.run(), edge.hold().index(), edge.starts(), edge.job()),
                (second, run, hold, starts, job as u32)
            );
            prop_assert_eq!(Edge::from_bytes(edge.to_bytes()), edge);
        }
    }

    #[test]
    fn ends_come_before_starts_of_the_same_second() {
        let run = NodeRange { first: 0, count: 1 };
        let end = Edge::new(
            5,
            NodeRange { first: 9, count: 1 },
            Hold::Reserved,
            false,
            7,
        );
        assert!(end < Edge::new(5, run, Hold::Running, true, 1));
        assert!(Edge::new(4, run, Hold::Running, true, 9) < end);
    }
}
