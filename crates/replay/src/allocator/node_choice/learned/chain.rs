//! An order in which nodes that move together are neighbours.
//!
//! The likeness of two nodes is the Jaccard index of the sets of groups in which they moved. Nodes are linked in order
//! of decreasing likeness, so that each has at most two neighbours and no ring forms. The resulting chains are pieces
//! of the order. The likeness of two pieces is the Jaccard index of the sets of groups that touch them. Pieces are
//! linked in the same way, and reversed where needed so that ends that move together meet. These steps are repeated
//! until no pieces can be linked.
//!
//! Example: node a moved in 10 groups and node b in 12, and 8 of these groups contain both. So 14 groups contain a or
//! b, and with the prior of 4 groups their likeness is 8 / (14 + 4) = 0.44.
//!
//! On Summit's log, the three nodes most like a given node are usually its neighbours by name. Their median distance
//! from the node is one position, and 90 % are at most three positions away.

use super::groups::Groups;

/// Maximum number of other pieces that are candidates for links to a piece.
const PARTNERS: usize = 10;

/// Groups with more pieces than this are ignored: they hardly show which pieces are neighbours, but processing them
/// would take most of the time.
const WIDE: usize = 64;

/// Number of groups that is added to the denominator of the likeness. Otherwise, two nodes with few moves could have a
/// high likeness by chance.
const PRIOR: f32 = 4.0;

const NONE: u32 = u32::MAX;

/// Derives a new order of the nodes in `order` from groups of nodes that moved together. Chains and unlinked nodes are
/// sorted by their mean position in `order`.
pub(super) fn chain(mut groups: Groups, order: &[u32]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    for (place, &node) in (0..).zip(order) {
        places[node as usize] = place;
    }
    let mut pieces: Vec<Vec<u32>> = order.iter().map(|&node| vec![node]).collect();
    loop {
        let spots = Spots::new(&pieces, order.len());
        let touched = groups.of_pieces(&spots.piece);
        let links = strongest_links(&touched.narrow(WIDE), pieces.len());
        let lines = Lines::new(&links, pieces.len());
        if lines.starts.len() == pieces.len() {
            return pieces.concat();
        }
        let turned = spots.turned(&groups, &lines);
        let middles: Vec<u32> = pieces.iter().map(|piece| piece[piece.len() / 2]).collect();
        // In the groups of later rounds, the node in the middle of a piece represents the piece.
        groups = touched.renamed(&middles);
        pieces = in_place(lines.joined(&pieces, &turned), &places);
    }
}

/// Sorts the pieces by the mean position of their nodes. Reverses a piece if its second half has a lower mean position
/// than its first half.
fn in_place(mut pieces: Vec<Vec<u32>>, places: &[u32]) -> Vec<Vec<u32>> {
    let mean = |nodes: &[u32]| {
        let sum: u64 = nodes
            .iter()
            .map(|&node| u64::from(places[node as usize]))
            .sum();
        sum as f64 / nodes.len().max(1) as f64
    };
    for piece in &mut pieces {
        let (first, second) = piece.split_at(piece.len() / 2);
        if mean(second) < mean(first) {
            piece.reverse();
        }
    }
    let mut placed: Vec<(f64, Vec<u32>)> = pieces
        .into_iter()
        .map(|piece| (mean(&piece), piece))
        .collect();
    placed.sort_by(|a, b| a.0.total_cmp(&b.0));
    placed.into_iter().map(|(_, piece)| piece).collect()
}

/// A possible link between two pieces. The fields are in the order in which links are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Link {
    /// The likeness of the pieces in the upper 32 bits, and their closeness in the current order in the lower 32 bits.
    strength: u64,
    pieces: [u32; 2],
}

impl Link {
    /// Creates a link. `likeness` must not be negative: the bit patterns of floats sort like their values only if the
    /// values are not negative.
    fn new(likeness: f32, pieces: [u32; 2]) -> Self {
        let near = u32::MAX - pieces[0].abs_diff(pieces[1]);
        Link {
            strength: u64::from(likeness.to_bits()) << 32 | u64::from(near),
            pieces,
        }
    }
}

/// Lists the strongest links of all pieces, from the strongest to the weakest.
fn strongest_links(groups: &Groups, pieces: usize) -> Vec<Link> {
    let groups_of = groups.by_member(pieces);
    // For each piece: the number of groups that it shares with the current piece.
    let mut shared = vec![0u32; pieces];
    let mut partners: Vec<u32> = Vec::new();
    let mut links = Vec::new();
    for piece in 0..pieces as u32 {
        let own = groups_of.get(piece);
        for &other in own.iter().flat_map(|&number| groups.get(number)) {
            if shared[other as usize] == 0 {
                partners.push(other);
            }
            shared[other as usize] += 1;
        }
        let first = links.len();
        for other in partners.drain(..) {
            let both = std::mem::take(&mut shared[other as usize]) as f32;
            if other != piece {
                let either = (own.len() + groups_of.get(other).len()) as f32 - both;
                links.push(Link::new(both / (either + PRIOR), [piece, other]));
            }
        }
        if links.len() - first > PARTNERS {
            links[first..].select_nth_unstable_by(PARTNERS, |a, b| b.cmp(a));
            links.truncate(first + PARTNERS);
        }
    }
    links.sort_unstable_by(|a, b| b.cmp(a));
    links
}

/// Pieces linked into lines.
struct Lines {
    /// The pieces before and after each piece.
    sides: Vec<[u32; 2]>,
    /// The first piece of each line.
    starts: Vec<u32>,
}

impl Lines {
    /// Adds the links one by one. Skips a link if one of its pieces already has two neighbours, or if a ring would
    /// form.
    fn new(links: &[Link], pieces: usize) -> Self {
        let mut sides = vec![[NONE; 2]; pieces];
        let mut roots: Vec<u32> = (0..pieces as u32).collect();
        for &Link { pieces: [a, b], .. } in links {
            if [a, b].iter().any(|&piece| sides[piece as usize][1] != NONE) {
                continue;
            }
            let (root_a, root_b) = (root(&mut roots, a), root(&mut roots, b));
            if root_a == root_b {
                continue;
            }
            roots[root_a as usize] = root_b;
            for (piece, other) in [(a, b), (b, a)] {
                let sides = &mut sides[piece as usize];
                sides[usize::from(sides[0] != NONE)] = other;
            }
        }
        let starts = direct(&mut sides);
        Lines { sides, starts }
    }

    /// The nodes of each line, in order. Pieces marked in `turned` are reversed.
    fn joined(&self, pieces: &[Vec<u32>], turned: &[bool]) -> Vec<Vec<u32>> {
        let line = |&start: &u32| {
            let mut nodes = Vec::new();
            let mut piece = start;
            while piece != NONE {
                let own = pieces[piece as usize].iter();
                if turned[piece as usize] {
                    nodes.extend(own.rev())
                } else {
                    nodes.extend(own)
                }
                piece = self.sides[piece as usize][1];
            }
            nodes
        };
        self.starts.iter().map(line).collect()
    }
}

/// Directs each line from the end with the lower index. On return, `sides` holds the predecessor and the successor of
/// each piece. Returns the first pieces of the lines.
fn direct(sides: &mut [[u32; 2]]) -> Vec<u32> {
    let mut starts = Vec::new();
    let mut seen = vec![false; sides.len()];
    for start in 0..sides.len() {
        if seen[start] || sides[start][1] != NONE {
            continue;
        }
        starts.push(start as u32);
        let (mut before, mut piece) = (NONE, start as u32);
        while piece != NONE {
            seen[piece as usize] = true;
            let sides = &mut sides[piece as usize];
            let after = if sides[0] == before {
                sides[1]
            } else {
                sides[0]
            };
            *sides = [before, after];
            (before, piece) = (piece, after);
        }
    }
    starts
}

/// Finds the root of the set that contains this piece in a union-find structure, and shortens the path to the root.
fn root(roots: &mut [u32], mut piece: u32) -> u32 {
    while roots[piece as usize] != piece {
        let up = roots[piece as usize];
        roots[piece as usize] = roots[up as usize];
        piece = up;
    }
    piece
}

/// The piece that contains each node, and the position of the node in this piece.
struct Spots {
    /// The piece of each node.
    piece: Vec<u32>,
    /// The position of each node in its piece: from −1 for the first node to 1 for the last; 0 if the
    /// piece has only one node.
    side: Vec<f32>,
    pieces: usize,
}

impl Spots {
    fn new(pieces: &[Vec<u32>], nodes: usize) -> Self {
        let mut spots = Spots {
            piece: vec![0; nodes],
            side: vec![0.0; nodes],
            pieces: pieces.len(),
        };
        for (number, piece) in (0..).zip(pieces) {
            for (place, &node) in piece.iter().enumerate() {
                spots.piece[node as usize] = number;
                if let last @ 1.. = piece.len() - 1 {
                    spots.side[node as usize] = 2.0 * place as f32 / last as f32 - 1.0;
                }
            }
        }
        spots
    }

    /// Determines which pieces must be reversed. In the result, nodes that move with the next piece come last, and
    /// nodes that move with the previous piece come first.
    ///
    /// Example: a group contains the last two of a piece's five nodes and touches the next piece of the line. The sides
    /// of these two nodes are 0.5 and 1. Their mean side of 0.75 is evidence that the direction is right.
    fn turned(&self, groups: &Groups, lines: &Lines) -> Vec<bool> {
        // For each piece: positive if its direction is right, negative if it must be reversed.
        let mut right = vec![0.0f32; self.pieces];
        // For each piece that a group touches: the number of its nodes in the group, and the sum of their sides.
        let mut met = vec![(0.0f32, 0.0f32); self.pieces];
        for group in groups.iter() {
            for &node in group {
                let (members, sides) = &mut met[self.piece[node as usize] as usize];
                *members += 1.0;
                *sides += self.side[node as usize];
            }
            for &node in group {
                let piece = self.piece[node as usize] as usize;
                let is_met = |other: u32| other != NONE && met[other as usize].0 > 0.0;
                let [before, after] = lines.sides[piece].map(is_met);
                let (members, sides) = met[piece];
                // This loop visits a piece once for each member, so each visit adds a fraction of the mean.
                let mean = sides / members / members;
                right[piece] += f32::from(i8::from(after) - i8::from(before)) * mean;
            }
            for &node in group {
                met[self.piece[node as usize] as usize] = (0.0, 0.0);
            }
        }
        right.iter().map(|&right| right < 0.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::seq::SliceRandom;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    // Runs of 8 neighbours in a hidden order move together. The chain must reproduce this order, except for its
    // direction and small errors.
    #[test]
    fn a_hidden_order_is_found() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut hidden: Vec<u32> = (0..300).collect();
        hidden.shuffle(&mut rng);
        let mut groups = Groups::default();
        for _ in 0..3000 {
            let first = rng.random_range(0..300 - 8);
            groups.push(hidden[first..first + 8].iter().copied());
        }
        let found = chain(groups, &(0..300).collect::<Vec<_>>());
        let mut places = vec![0usize; 300];
        for (place, &node) in found.iter().enumerate() {
            places[node as usize] = place;
        }
        let apart = hidden
            .windows(2)
            .map(|pair| places[pair[0] as usize].abs_diff(places[pair[1] as usize]));
        let far = apart.filter(|&apart| apart > 3).count();
        assert!(
            far < 10,
            "{far} of 299 pairs of neighbours are more than 3 apart"
        );
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(128))]

        #[test]
        fn every_order_has_all_nodes(
            order in Just((0u32..30).collect::<Vec<_>>()).prop_shuffle(),
            groups in prop::collection::vec(prop::collection::btree_set(0u32..30, 1..30), 0..40),
        ) {
            let mut all = Groups::default();
            groups.into_iter().for_each(|group| all.push(group));
            let is_unknown = all.moves() == 0;
            let mut found = chain(all, &order);
            if is_unknown {
                prop_assert_eq!(&found, &order);
            }
            found.sort_unstable();
            prop_assert_eq!(found, (0..30).collect::<Vec<_>>());
        }
    }
}
