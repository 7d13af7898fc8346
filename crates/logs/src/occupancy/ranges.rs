//! Runs of consecutive nodes.

/// Consecutive nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeRange {
    /// Index of the first node.
    pub first: u32,
    /// Number of nodes.
    pub count: u32,
}

/// Sorts runs, and joins runs that touch or overlap, so that every node is in only one run.
pub fn merge_ranges(runs: &mut Vec<NodeRange>) {
    runs.sort_unstable();
    runs.dedup_by(|run, before| {
        let end = before.first.saturating_add(before.count);
        if run.first > end {
            return false;
        }
        let further = run.first.saturating_add(run.count);
        before.count = end.max(further) - before.first;
        true
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_make_one_run() {
        let mut runs: Vec<NodeRange> = [(7, 1), (3, 2), (9, 1), (5, 1), (3, 1), (20, 9), (22, 2)]
            .map(|(first, count)| NodeRange { first, count })
            .into();
        merge_ranges(&mut runs);
        let pairs: Vec<_> = runs.iter().map(|run| (run.first, run.count)).collect();
        assert_eq!(pairs, [(3, 3), (7, 1), (9, 1), (20, 9)]);
        runs.clear();
        merge_ranges(&mut runs);
        assert!(runs.is_empty());
    }
}
