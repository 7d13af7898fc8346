//! A set of indexes with fast searches for the next and the previous member.

/// A set of indexes below a given length. The lowest level has a bit for each index. Each level above has a bit
/// for each word of the level below: 1 if the word is not 0. A search that finds a word empty goes up a level,
/// skips all empty words there, and comes down again. For example, a million indexes need levels of 15,625, 245, 4 and
/// 1 words. A search then reads at most four words on the way up and three on the way down.
#[derive(Debug, Clone)]
pub(super) struct Heads {
    levels: Vec<Vec<u64>>,
}

const BITS: usize = u64::BITS as usize;

impl Heads {
    /// The empty set of indexes below `length`.
    pub fn new(length: usize) -> Self {
        let mut levels = Vec::new();
        let mut words = length;
        loop {
            words = words.div_ceil(BITS).max(1);
            levels.push(vec![0; words]);
            if words == 1 {
                return Heads { levels };
            }
        }
    }

    pub fn contains(&self, index: usize) -> bool {
        self.levels[0][index / BITS] >> (index % BITS) & 1 == 1
    }

    pub fn insert(&mut self, mut index: usize) {
        for words in &mut self.levels {
            words[index / BITS] |= 1 << (index % BITS);
            index /= BITS;
        }
    }

    pub fn remove(&mut self, mut index: usize) {
        for words in &mut self.levels {
            words[index / BITS] &= !(1 << (index % BITS));
            if words[index / BITS] != 0 {
                return;
            }
            index /= BITS;
        }
    }

    /// The smallest member that is not less than `index`.
    pub fn next(&self, mut index: usize) -> Option<usize> {
        for (level, words) in self.levels.iter().enumerate() {
            let word = words.get(index / BITS)? >> (index % BITS);
            if word != 0 {
                let found = index + word.trailing_zeros() as usize;
                return Some(self.descend(level, found, |word| word.trailing_zeros()));
            }
            index = index / BITS + 1;
        }
        None
    }

    /// The largest member that is not greater than `index`.
    pub fn previous(&self, mut index: usize) -> Option<usize> {
        for (level, words) in self.levels.iter().enumerate() {
            let word = words[index / BITS] << (BITS - 1 - index % BITS);
            if word != 0 {
                let found = index - word.leading_zeros() as usize;
                let last = |word: u64| u64::BITS - 1 - word.leading_zeros();
                return Some(self.descend(level, found, last));
            }
            index = (index / BITS).checked_sub(1)?;
        }
        None
    }

    /// Descends to a member of the set from the bit `index` of a level, which must be 1. In each word
    /// on the way, `choose` selects the bit.
    fn descend(&self, level: usize, mut index: usize, choose: impl Fn(u64) -> u32) -> usize {
        for words in self.levels[..level].iter().rev() {
            index = index * BITS + choose(words[index]) as usize;
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        // The oracle is a sorted set.
        #[test]
        fn neighbours_are_those_of_a_sorted_set(
            length in prop_oneof![1usize..200, 4000usize..5000, 262_000usize..270_000],
            steps in prop::collection::vec((0usize..270_000, any::<bool>()), 1..60),
        ) {
            let mut heads = Heads::new(length);
            let mut set = BTreeSet::new();
            for (index, insert) in steps {
                let index = index % length;
                if insert {
                    heads.insert(index);
                    set.insert(index);
                } else if let Some(found) = set.range(index..).next().copied() {
                    // Remove the first member at or after the index.
                    heads.remove(found);
                    set.remove(&found);
                }
                for at in [0, index / 2, index, length - 1] {
                    prop_assert_eq!(heads.contains(at), set.contains(&at));
                    prop_assert_eq!(heads.next(at), set.range(at..).next().copied());
                    prop_assert_eq!(heads.previous(at), set.range(..=at).next_back().copied());
                }
                prop_assert_eq!(heads.next(length), None);
            }
        }
    }
}
