//! Python's generator of random numbers, which the groups and splits of published data sets come
//! from.

const WORDS: usize = 624;
const MIDDLE: usize = 397;

/// CPython's `random.Random`: the Mersenne Twister MT19937 (Matsumoto and Nishimura, 1998), with
/// CPython's ways to seed it and to draw from it. The same seed gives the numbers that Python 3.2
/// and later give.
#[derive(Debug, Clone)]
pub struct PythonRandom {
    state: [u32; WORDS],
    /// The next word of the state to give out; `WORDS` where a new state is due.
    next: usize,
}

impl PythonRandom {
    /// `random.Random(seed)`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let (low, high) = (seed as u32, (seed >> 32) as u32);
        let key: &[u32] = if high == 0 { &[low] } else { &[low, high] };
        let mut random = PythonRandom {
            state: linear(19_650_218),
            next: WORDS,
        };
        random.mix(key);
        random
    }

    /// Works a key into the state: `init_by_array` of the reference implementation.
    fn mix(&mut self, key: &[u32]) {
        let mut at = 1;
        for step in 0..WORDS.max(key.len()) {
            let word = step % key.len();
            let scrambled = self.scrambled(at, 1_664_525);
            self.state[at] = scrambled.wrapping_add(key[word]).wrapping_add(word as u32);
            at = self.after(at);
        }
        for _ in 1..WORDS {
            self.state[at] = self.scrambled(at, 1_566_083_941).wrapping_sub(at as u32);
            at = self.after(at);
        }
        self.state[0] = 1 << 31;
    }

    fn scrambled(&self, at: usize, factor: u32) -> u32 {
        let before = self.state[at - 1];
        self.state[at] ^ (before ^ (before >> 30)).wrapping_mul(factor)
    }

    /// The word to mix after `at`; the last one is carried over to the first.
    fn after(&mut self, at: usize) -> usize {
        if at + 1 < WORDS {
            return at + 1;
        }
        self.state[0] = self.state[WORDS - 1];
        1
    }

    fn twist(&mut self) {
        for at in 0..WORDS {
            let joined =
                (self.state[at] & (1 << 31)) | (self.state[(at + 1) % WORDS] & (u32::MAX >> 1));
            let odd = (joined & 1) * 0x9908_b0df;
            self.state[at] = self.state[(at + MIDDLE) % WORDS] ^ (joined >> 1) ^ odd;
        }
        self.next = 0;
    }

    /// The next 32 random bits.
    pub fn word(&mut self) -> u32 {
        if self.next == WORDS {
            self.twist();
        }
        let mut word = self.state[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    /// A number from 0 to `end` - 1: Python's `randrange(end)`. 0 where `end` is 0.
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

    /// Python's `shuffle`.
    ///
    /// # Panics
    /// Where there are 2³² items or more.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        assert!(u32::try_from(items.len()).is_ok(), "too many items");
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u32 + 1) as usize);
        }
    }

    /// Python's `choice`; `None` of no items.
    ///
    /// # Panics
    /// Where there are 2³² items or more.
    pub fn choice<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        assert!(u32::try_from(items.len()).is_ok(), "too many items");
        if items.is_empty() {
            return None;
        }
        items.get(self.below(items.len() as u32) as usize)
    }
}

/// The state that a single word seeds: `init_genrand` of the reference implementation.
fn linear(seed: u32) -> [u32; WORDS] {
    let mut state = [seed; WORDS];
    for at in 1..WORDS {
        let before = state[at - 1];
        state[at] = (before ^ (before >> 30))
            .wrapping_mul(1_812_433_253)
            .wrapping_add(at as u32);
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    // Golden values: CPython 3.11, `random.Random(seed).getrandbits(32)`.
    #[test]
    fn words_are_those_of_cpython() {
        let words = |seed| {
            let mut random = PythonRandom::new(seed);
            [random.word(), random.word(), random.word()]
        };
        assert_eq!(words(0), [3_626_764_237, 1_654_615_998, 3_255_389_356]);
        assert_eq!(words(42), [2_746_317_213, 478_163_327, 107_420_369]);
        assert_eq!(words(u64::MAX), [93_740_670, 1_068_495_656, 1_452_108_352]);
        assert_eq!(words(1 << 32), [485_306_839, 1_508_871_100, 1_794_561_286]);
    }

    // Golden value: CPython 3.11, the 2,000th word of seed 7, past several new states.
    #[test]
    fn a_new_state_is_made_when_one_is_used_up() {
        let mut random = PythonRandom::new(7);
        let last = (0..2000).map(|_| random.word()).last();
        assert_eq!(last, Some(2_803_521_222));
    }

    #[test]
    fn numbers_below_an_end_are_below_it() {
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
