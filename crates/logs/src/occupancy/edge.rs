//! The start or end of a hold on some nodes.

use std::cmp::Ordering;

use super::deal::part;
use super::ranges::NodeRange;

/// What holds a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hold {
    /// A job runs on it.
    Running,
    /// It is down.
    Down,
    /// It is up, but takes no jobs.
    Drained,
    /// It is reserved.
    Reserved,
}

impl Hold {
    /// All holds. A node with several holds is counted under the first of them.
    pub const ALL: [Hold; 4] = [Hold::Running, Hold::Down, Hold::Drained, Hold::Reserved];

    /// Its index in [`Hold::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// Its name in one word.
    pub fn name(self) -> &'static str {
        ["running", "down", "drained", "reserved"][self.index()]
    }
}

/// The start or end of a hold on consecutive nodes; 16 bytes.
///
/// Edges sort by time, and within a second ends come before starts. So a job that starts when
/// another ends does not seem to share its nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    second: i64,
    first: u32,
    /// Number of nodes, index of the hold, and in the lowest bit whether the hold starts.
    code: u32,
}

/// Maximum number of nodes of one edge.
pub(super) const MOST: u32 = u32::MAX >> 3;

impl Edge {
    /// An edge at `second`; a run of more than 2^29 nodes is cut to that.
    pub fn new(second: i64, run: NodeRange, hold: Hold, starts: bool) -> Self {
        Edge {
            second,
            first: run.first,
            code: run.count.min(MOST) << 3 | (hold.index() as u32) << 1 | u32::from(starts),
        }
    }

    /// Its time, in seconds since 1970.
    pub fn second(self) -> i64 {
        self.second
    }

    /// The nodes that are held.
    pub fn run(self) -> NodeRange {
        NodeRange {
            first: self.first,
            count: self.code >> 3,
        }
    }

    /// What holds them.
    pub fn hold(self) -> Hold {
        Hold::ALL[(self.code >> 1 & 3) as usize]
    }

    /// Whether the hold starts; else it ends.
    pub fn starts(self) -> bool {
        self.code & 1 == 1
    }

    /// Its bytes, for a spill to disk.
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.second.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.first.to_le_bytes());
        bytes[12..].copy_from_slice(&self.code.to_le_bytes());
        bytes
    }

    /// The edge of these bytes, as written by [`Edge::to_bytes`].
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Edge {
            second: i64::from_le_bytes(part(&bytes, 0)),
            first: u32::from_le_bytes(part(&bytes, 8)),
            code: u32::from_le_bytes(part(&bytes, 12)),
        }
    }
}

impl Ord for Edge {
    // Sorting happens in another crate.
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |edge: &Edge| (edge.second, edge.code & 1, edge.first, edge.code);
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
            second: i64, first: u32, count in 0..=MOST, hold in 0usize..4, starts: bool,
        ) {
            let run = NodeRange { first, count };
            let edge = Edge::new(second, run, Hold::ALL[hold], starts);
            prop_assert_eq!(
                (edge.second(), edge.run(), edge.hold().index(), edge.starts()),
                (second, run, hold, starts)
            );
            prop_assert_eq!(Edge::from_bytes(edge.to_bytes()), edge);
        }
    }

    #[test]
    fn ends_come_before_starts_of_the_same_second() {
        let run = NodeRange { first: 0, count: 1 };
        let end = Edge::new(5, NodeRange { first: 9, count: 1 }, Hold::Reserved, false);
        assert!(end < Edge::new(5, run, Hold::Running, true));
        assert!(Edge::new(4, run, Hold::Running, true) < end);
    }
}
