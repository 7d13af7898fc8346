//! Random numbers that depend only on a seed, a purpose and a place.
//!
//! For example, one number is drawn for the delay of the third message of a connection. If a fault is removed from a
//! plan, the other random numbers of the world therefore do not change, so a failing plan can be shrunk.

/// The purpose for which a random number is drawn.
#[derive(Debug, Clone, Copy)]
pub enum For {
    Plan,
    Delay,
    Break,
    Pilot,
    Program,
    Rank,
    Answer,
    Daemon,
    User,
    Decision,
    Loss,
    Classes,
    Groups,
    Snapshot,
}

/// The source of all random numbers of a run.
#[derive(Debug, Default, Clone, Copy)]
pub struct Noise(pub u64);

impl Noise {
    /// A sequence of random numbers for a purpose and a place.
    pub fn draw(self, purpose: For, place: &[u64]) -> Draw {
        let mut state = self.0 ^ (purpose as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for &part in place {
            state = mixed(state.wrapping_add(part).wrapping_add(0x9e37_79b9_7f4a_7c15));
        }
        Draw(mixed(state))
    }
}

/// A sequence of random numbers (SplitMix64: Steele, Lea and Flood 2014).
#[derive(Debug, Clone)]
pub struct Draw(u64);

fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    /// A number from 0 to `count` - 1.
    pub fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }

    /// A number from `low` to `high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as usize) as i64
    }

    /// True with a probability of `percent` percent.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the items.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}
