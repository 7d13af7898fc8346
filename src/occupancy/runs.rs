//! Runs of consecutive nodes.

/// Consecutive nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// Index of the first node.
    pub first: u32,
    /// How many there are.
    pub count: u32,
}

/// The runs that some nodes make; sorts `nodes`, and counts a repeated one once.
pub fn to_runs(nodes: &mut [u32], runs: &mut Vec<Run>) {
    nodes.sort_unstable();
    runs.clear();
    for &node in nodes.iter() {
        match runs.last_mut() {
            Some(run) if node < run.first.saturating_add(run.count) => {}
            Some(run) if node == run.first.saturating_add(run.count) => run.count += 1,
            _ => runs.push(Run {
                first: node,
                count: 1,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_make_one_run() {
        let mut runs = Vec::new();
        to_runs(&mut [7, 3, 4, 9, 5, 3], &mut runs);
        let pairs: Vec<_> = runs.iter().map(|run| (run.first, run.count)).collect();
        assert_eq!(pairs, [(3, 3), (7, 1), (9, 1)]);
        to_runs(&mut [], &mut runs);
        assert!(runs.is_empty());
    }
}
