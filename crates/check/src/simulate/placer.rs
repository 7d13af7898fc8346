//! Chooses the GPUs of a job according to the rules of the placers.

use std::cmp::Reverse;

/// The rule by which the GPUs of a job are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placer {
    /// Uses as few nodes as possible. A job that does not fit this way is not placed.
    Consolidate,
    /// Uses as few nodes as possible. A job that does not fit this way is spread over the nodes
    /// with the most free GPUs.
    ConsolidateFirst,
    /// Takes free GPUs node by node, in the order of the simulator's list.
    Random,
}

impl Placer {
    /// The placer with this name; `None` if the name is unknown.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "consolidate" => Some(Placer::Consolidate),
            "consolidate-first" => Some(Placer::ConsolidateFirst),
            "random" => Some(Placer::Random),
            _ => None,
        }
    }

    /// The placer's name in the original simulator, which appears in file and column names.
    pub(super) fn original_name(self) -> &'static str {
        match self {
            Placer::Consolidate => "consolidate",
            Placer::ConsolidateFirst => "consolidateFirst",
            Placer::Random => "random",
        }
    }

    /// Chooses GPUs. `free` lists the nodes in the order of the simulator's list, each with its
    /// number of free GPUs. Returns the number of GPUs taken on each node; `None` if the job does
    /// not fit.
    pub(super) fn choose(
        self,
        free: &[(u32, u32)],
        gpus: u32,
        gpus_per_node: u32,
    ) -> Option<Vec<(u32, u32)>> {
        let mut idlest: Vec<(u32, u32)> = free.iter().copied().filter(|node| node.1 > 0).collect();
        if self == Placer::Random {
            return spread(&idlest, gpus);
        }
        idlest.sort_by_key(|&(_, free)| Reverse(free));
        let together = consolidate(free, &idlest, gpus, gpus_per_node);
        match self {
            Placer::ConsolidateFirst => together.or_else(|| spread(&idlest, gpus)),
            _ => together,
        }
    }
}

/// A job that fits on one node is placed on the node with the fewest free GPUs among the nodes with
/// enough free GPUs. A larger job takes completely free nodes, and its remainder is placed on the
/// remaining node with the most free GPUs.
fn consolidate(
    free: &[(u32, u32)],
    idlest: &[(u32, u32)],
    gpus: u32,
    gpus_per_node: u32,
) -> Option<Vec<(u32, u32)>> {
    if gpus <= gpus_per_node {
        let fitting = free.iter().filter(|&&(_, free)| free >= gpus);
        let fullest = fitting.min_by_key(|&&(_, free)| free)?;
        return Some(vec![(fullest.0, gpus)]);
    }
    let (whole, rest) = (gpus / gpus_per_node, gpus % gpus_per_node);
    let parts = (0..whole)
        .map(|_| gpus_per_node)
        .chain((rest > 0).then_some(rest));
    let mut nodes = idlest.iter();
    let part = |part: u32| {
        let &(node, free) = nodes.next()?;
        (free >= part).then_some((node, part))
    };
    parts.map(part).collect()
}

/// Takes free GPUs node by node.
fn spread(nodes: &[(u32, u32)], gpus: u32) -> Option<Vec<(u32, u32)>> {
    let mut left = gpus;
    let mut taken = Vec::new();
    for &(node, free) in nodes {
        let part = left.min(free);
        left -= part;
        taken.push((node, part));
        if left == 0 {
            return Some(taken);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    // Each example lists the free GPUs of nodes with 4 GPUs each, the number of GPUs of a job, and
    // the job's placement.
    #[test]
    fn placers_choose_as_documented() {
        use Placer::{Consolidate, ConsolidateFirst, Random};
        type Chosen = Option<&'static [(u32, u32)]>;
        let cases: [(Placer, &[u32], u32, Chosen); 9] = [
            (Consolidate, &[4, 2, 3, 2], 2, Some(&[(1, 2)])),
            (Consolidate, &[4, 2, 3, 2], 3, Some(&[(2, 3)])),
            (Consolidate, &[3, 2, 3], 4, None),
            (
                Consolidate,
                &[1, 4, 3, 4],
                9,
                Some(&[(1, 4), (3, 4), (2, 1)]),
            ),
            (Consolidate, &[1, 4, 2, 2], 7, None),
            (ConsolidateFirst, &[1, 2, 3], 4, Some(&[(2, 3), (1, 1)])),
            (ConsolidateFirst, &[1, 2, 3], 7, None),
            (Random, &[1, 4, 3], 2, Some(&[(0, 1), (1, 1)])),
            (Random, &[0, 4, 3], 2, Some(&[(1, 2)])),
        ];
        for (placer, free, gpus, expected) in cases {
            let nodes: Vec<(u32, u32)> = (0..).zip(free.iter().copied()).collect();
            let found = placer.choose(&nodes, gpus, 4);
            assert_eq!(found.as_deref(), expected, "{placer:?}: {gpus} on {free:?}");
        }
    }
}
