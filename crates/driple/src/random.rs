//! Python's random number generator, which was used to group and split the published data sets.

use rand_mt::Mt;

/// CPython's `random.Random`: the Mersenne Twister MT19937 (Matsumoto and Nishimura 1998), with
/// CPython's methods of seeding and drawing. A seed gives the same numbers as in Python 3.2 and
/// later.
#[derive(Debug, Clone)]
pub struct PythonRandom(Mt);

impl PythonRandom {
    /// Seeds the generator as `random.Random(seed)` does.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let (low, high) = (seed as u32, (seed >> 32) as u32);
        let key = [low, high];
        let words = if high == 0 { 1 } else { 2 };
        PythonRandom(Mt::new_with_key(key.into_iter().take(words)))
    }

    /// The next 32 random bits.
    pub fn word(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// A number from 0 to `end` - 1, drawn as Python's `randrange(end)` does. Returns 0 if `end` is
    /// 0.
    pub fn below(&mut self, end: u32) -> u32 {
        if end == 0 {
            return 0;
        }
        let unused = end.leading_zeros();
        loop {
            let drawn = self.word() >> unused;
            if drawn < end {
                return drawn;
            }
        }
    }

    /// Shuffles `items` as Python's `shuffle` does.
    ///
    /// # Panics
    /// If there are 2³² items or more.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        assert!(u32::try_from(items.len()).is_ok(), "too many items");
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u32 + 1) as usize);
        }
    }

    /// Picks one of `items` as Python's `choice` does. Returns `None` if there are no items.
    ///
    /// # Panics
    /// If there are 2³² items or more.
    pub fn choice<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        assert!(u32::try_from(items.len()).is_ok(), "too many items");
        if items.is_empty() {
            return None;
        }
        items.get(self.below(items.len() as u32) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Golden values: CPython 3.11, `random.Random(seed).getrandbits(32)`.
    #[test]
    fn random_words_equal_those_of_cpython() {
        let words = |seed| {
            let mut random = PythonRandom::new(seed);
            [random.word(), random.word(), random.word()]
        };
        assert_eq!(words(0), [3_626_764_237, 1_654_615_998, 3_255_389_356]);
        assert_eq!(words(42), [2_746_317_213, 478_163_327, 107_420_369]);
        assert_eq!(words(u64::MAX), [93_740_670, 1_068_495_656, 1_452_108_352]);
        assert_eq!(words(1 << 32), [485_306_839, 1_508_871_100, 1_794_561_286]);
    }

    // Golden value: CPython 3.11, the 2,000th word for seed 7, after the generator has renewed its
    // state several times.
    #[test]
    fn a_used_up_state_is_generated_again() {
        let mut random = PythonRandom::new(7);
        let last = (0..2000).map(|_| random.word()).last();
        assert_eq!(last, Some(2_803_521_222));
    }

    #[test]
    fn random_numbers_are_below_their_bound() {
        let mut random = PythonRandom::new(1);
        assert!((1..500).all(|end| random.below(end) < end));
        assert_eq!(random.below(0), 0);
        assert_eq!(random.choice::<u8>(&[]), None);
        assert_eq!(random.choice(&["only"]), Some(&"only"));
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..1000).collect();
        PythonRandom::new(3).shuffle(&mut items);
        assert_ne!(items, (0..1000).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..1000).collect::<Vec<_>>());
    }
}
