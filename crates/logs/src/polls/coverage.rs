//! Measures the node-time that polls leave unknown, and the spans during which the state of the whole machine is
//! unknown.

use crate::occupancy::{Edge, Window};

/// The unknown node-time within the window of an event log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Node-seconds of unknown nodes while the state of at least one node is known.
    pub unknown: u64,
    /// Number of seconds during which the state of the whole machine is unknown.
    pub uncovered: u64,
    /// Number of spans during which the state of the whole machine is unknown.
    pub gaps: u64,
    /// Start, in seconds since 1970, and length, in seconds, of the longest of these spans. If several are equally
    /// long, this is the first.
    pub longest: Option<(i64, u64)>,
}

/// Measures the coverage of a machine with `nodes` nodes. `edges` are the starts and ends of unknown spans, in
/// chronological order.
///
/// # Errors
/// `edges` contains an error.
pub(super) fn coverage<E>(
    edges: impl IntoIterator<Item = Result<Edge, E>>,
    nodes: u64,
    window: Window,
) -> Result<Coverage, E> {
    let mut coverage = Coverage::default();
    let (mut second, mut unknown) = (window.from, 0u64);
    // The start of the current span during which all nodes are unknown.
    let mut gap = None;
    for edge in edges {
        let edge = edge?;
        let at = edge.second().clamp(window.from, window.to);
        if at > second {
            coverage.add(second, at, unknown, nodes, &mut gap);
            second = at;
        }
        let count = u64::from(edge.run().count);
        unknown = if edge.starts() {
            unknown + count
        } else {
            unknown.saturating_sub(count)
        };
    }
    coverage.add(second, window.to, unknown, nodes, &mut gap);
    Ok(coverage)
}

impl Coverage {
    /// Adds a period during which the number of unknown nodes is constant.
    fn add(&mut self, from: i64, to: i64, unknown: u64, nodes: u64, gap: &mut Option<i64>) {
        let seconds = u64::try_from(to - from).unwrap_or(0);
        if unknown < nodes {
            self.unknown += unknown * seconds;
            *gap = None;
            return;
        }
        if seconds == 0 {
            return;
        }
        self.uncovered += seconds;
        self.gaps += u64::from(gap.is_none());
        let start = *gap.get_or_insert(from);
        let length = u64::try_from(to - start).unwrap_or(0);
        if self.longest.is_none_or(|(_, longest)| length > longest) {
            self.longest = Some((start, length));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::occupancy::{Hold, NodeRange};
    use std::convert::Infallible;

    #[test]
    fn a_wholly_unknown_machine_is_not_covered() {
        let edge = |second, first, count, starts| -> Result<Edge, Infallible> {
            let run = NodeRange { first, count };
            Ok(Edge::new(second, run, Hold::Running, starts, 0))
        };
        let edges = [
            edge(0, 0, 2, true),
            edge(20, 2, 1, true),
            edge(25, 2, 1, false),
            edge(25, 2, 1, true),
            edge(30, 0, 3, false),
            edge(40, 0, 3, true),
            edge(60, 0, 3, false),
        ];
        let window = Window { from: 10, to: 45 };
        let expected = Coverage {
            unknown: 20,
            uncovered: 15,
            gaps: 2,
            longest: Some((20, 10)),
        };
        assert_eq!(coverage(edges, 3, window), Ok(expected));
        let none: [Result<Edge, Infallible>; 0] = [];
        assert_eq!(coverage(none, 3, window), Ok(Coverage::default()));
    }
}
