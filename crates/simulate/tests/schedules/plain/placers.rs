//! Chooses the nodes that a job gets.

use super::nodes::Nodes;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placer {
    Consolidate,
    ConsolidateFirst,
    Random,
}

impl Placer {
    pub const ALL: [Placer; 3] = [
        Placer::Consolidate,
        Placer::ConsolidateFirst,
        Placer::Random,
    ];

    /// Positions in the node list, each with the number of GPUs to take there; `None` if the job does not fit.
    pub fn select(self, nodes: &Nodes, gpus: u32) -> Option<Vec<(usize, u32)>> {
        if nodes.free() < gpus {
            return None;
        }
        let available: Vec<(usize, u32)> = (0..nodes.list.len())
            .map(|at| (at, nodes.list[at].free()))
            .filter(|&(_, free)| free > 0)
            .collect();
        let mut idlest = available.clone();
        idlest.sort_by_key(|&(_, free)| std::cmp::Reverse(free));
        let mut fullest = available.clone();
        fullest.sort_by_key(|&(_, free)| free);
        let together = || consolidate(&fullest, &idlest, gpus, nodes.gpus_per_node);
        match self {
            Placer::Consolidate => together(),
            Placer::ConsolidateFirst => together().or_else(|| spread(&idlest, gpus)),
            Placer::Random => spread(&available, gpus),
        }
    }
}

fn consolidate(
    fullest: &[(usize, u32)],
    idlest: &[(usize, u32)],
    gpus: u32,
    gpus_per_node: u32,
) -> Option<Vec<(usize, u32)>> {
    if gpus <= gpus_per_node {
        let fits = fullest.iter().find(|&&(_, free)| free >= gpus);
        return fits.map(|&(at, _)| vec![(at, gpus)]);
    }
    let mut left = gpus;
    let mut chosen = Vec::new();
    for &(at, free) in idlest {
        let part = left.min(gpus_per_node);
        if free < part {
            return None;
        }
        chosen.push((at, part));
        left -= part;
        if left == 0 {
            return Some(chosen);
        }
    }
    None
}

fn spread(nodes: &[(usize, u32)], gpus: u32) -> Option<Vec<(usize, u32)>> {
    let mut left = gpus;
    let mut chosen = Vec::new();
    for &(at, free) in nodes {
        let part = left.min(free);
        chosen.push((at, part));
        left -= part;
        if left == 0 {
            return Some(chosen);
        }
    }
    None
}

/// Small fixed examples with nodes of 4 GPUs. Each example lists a placer, the number of GPUs in use on each node, the
/// number of GPUs of a job, and the GPUs that the placer chooses.
#[test]
fn placers_choose_as_described() {
    use Placer::{Consolidate, ConsolidateFirst, Random};
    type Chosen = Option<&'static [(usize, u32)]>;
    let cases: [(Placer, &[u32], u32, Chosen); 12] = [
        (Consolidate, &[0, 2, 1, 2], 2, Some(&[(1, 2)])),
        (Consolidate, &[0, 2, 1, 2], 3, Some(&[(2, 3)])),
        (Consolidate, &[1, 2, 1], 4, None),
        (Consolidate, &[2, 0, 0], 8, Some(&[(1, 4), (2, 4)])),
        (
            Consolidate,
            &[3, 0, 1, 0],
            9,
            Some(&[(1, 4), (3, 4), (2, 1)]),
        ),
        (Consolidate, &[3, 0, 2, 2], 7, None),
        (Consolidate, &[0, 2, 0], 6, Some(&[(0, 4), (2, 2)])),
        (ConsolidateFirst, &[0, 2, 1, 2], 2, Some(&[(1, 2)])),
        (ConsolidateFirst, &[3, 2, 1], 4, Some(&[(2, 3), (1, 1)])),
        (ConsolidateFirst, &[3, 2, 1], 7, None),
        (Random, &[3, 0, 1], 2, Some(&[(0, 1), (1, 1)])),
        (Random, &[4, 0, 1], 2, Some(&[(1, 2)])),
    ];
    for (placer, taken, gpus, expected) in cases {
        let mut nodes = Nodes::new(taken.len() as u32, 4);
        for (node, &taken) in nodes.list.iter_mut().zip(taken) {
            node.allocate(0, taken);
        }
        let found = placer.select(&nodes, gpus);
        let expected = expected.map(<[_]>::to_vec);
        assert_eq!(found, expected, "{placer:?} of {gpus} on {taken:?}");
    }
}
