//! The idle nodes in a fixed order of all nodes.

/// A set of nodes that counts how many of its nodes come before a given node.
#[derive(Debug)]
pub(super) struct IdleNodes {
    /// Position of each node in the order.
    places: Vec<u32>,
    /// One bit for each position. The bit is set if the node at this position is idle.
    words: Vec<u64>,
    /// Number of idle nodes before each word, followed by the total number of idle nodes.
    before: Vec<u32>,
}

impl IdleNodes {
    /// Creates a set without idle nodes. `order` lists the indices of all nodes.
    pub fn new(order: &[u32]) -> Self {
        let mut places = vec![0; order.len()];
        for (place, &node) in (0..).zip(order) {
            places[node as usize] = place;
        }
        let words = vec![0; order.len().div_ceil(64)];
        IdleNodes {
            places,
            before: vec![0; words.len() + 1],
            words,
        }
    }

    /// Adds or removes a node. Call [`IdleNodes::count_ranks`] before the next call to
    /// [`IdleNodes::rank`].
    pub fn set(&mut self, node: u32, idle: bool) {
        let place = self.places[node as usize];
        let bit = 1 << (place % 64);
        if idle {
            self.words[place as usize / 64] |= bit
        } else {
            self.words[place as usize / 64] &= !bit
        }
    }

    /// Replaces the order with another order of the same nodes.
    pub fn reorder(&mut self, order: &[u32]) {
        let before = std::mem::replace(self, IdleNodes::new(order));
        for &node in order {
            self.set(node, before.holds(node));
        }
        self.count_ranks();
    }

    fn holds(&self, node: u32) -> bool {
        let place = self.places[node as usize];
        self.words[place as usize / 64] >> (place % 64) & 1 == 1
    }

    /// Counts the idle nodes before each word.
    pub fn count_ranks(&mut self) {
        let mut sum = 0;
        for (word, before) in self.words.iter().zip(&mut self.before[1..]) {
            sum += word.count_ones();
            *before = sum;
        }
    }

    /// Number of idle nodes.
    pub fn count(&self) -> u32 {
        self.before.last().copied().unwrap_or(0)
    }

    /// Number of idle nodes before this node in the order.
    pub fn rank(&self, node: u32) -> u32 {
        let place = self.places[node as usize];
        let word = place as usize / 64;
        let below = self.words[word] & ((1 << (place % 64)) - 1);
        self.before[word] + below.count_ones()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(gleaner_testing::cases(64))]

        // Compares each rank with a count of the idle nodes before the node.
        #[test]
        fn ranks_count_the_idle_nodes_before(
            order in Just((0u32..200).collect::<Vec<_>>()).prop_shuffle(),
            idle in prop::collection::vec(any::<bool>(), 200),
        ) {
            let mut nodes = IdleNodes::new(&order);
            for node in 0..200 {
                nodes.set(node, true);
                nodes.set(node, idle[node as usize]);
            }
            nodes.count_ranks();
            let mut before = 0;
            for node in order {
                prop_assert_eq!(nodes.rank(node), before);
                before += u32::from(idle[node as usize]);
            }
            prop_assert_eq!(nodes.count(), before);
            let in_turn: Vec<u32> = (0..200).collect();
            nodes.reorder(&in_turn);
            let mut before = 0;
            for node in in_turn {
                prop_assert_eq!(nodes.rank(node), before);
                before += u32::from(idle[node as usize]);
            }
        }
    }
}
