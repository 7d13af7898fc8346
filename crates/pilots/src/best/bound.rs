//! An upper bound on the ready time that further lengths can add to a ladder.
//!
//! Let r be the remaining length of a fragment, and let x = r − d be its part after the delay d of a first pilot. Let
//! m = ⌊x / g⌋ be the **bin** of the fragment: gm is the greatest multiple of the grid g that fits. A fragment in bin m
//! gains the most, gm − w, from a single pilot of length gm. Every other choice loses some of this gain:
//!
//! - p pilots whose lengths add up to gm lose p − 1 start-ups, (p − 1)·w. They also need p − 1 further delays, which
//!   must fit in x mod g.
//! - Pilots whose lengths add up to less than gm lose at least g.
//! - No pilot at all loses gm − w. This is less than g only in the lowest bin.
//!
//! Now count how many bins can have small losses. With j lengths, at most j bins equal a length, at most C(j+1, 2)
//! equal a sum of two, at most C(j+2, 3) equal a sum of three, and so on. Call p − 1 the **level** of a bin whose
//! shortest sum has p lengths. At most N(t) = C(j, 1) + … + C(j+t, t+1) bins have a level of at most t. Losses grow
//! with the level, so
//!
//! ```text
//! total loss = Σ over levels t of the increments, from level t to t + 1, of all bins with a level above t
//!            ≥ Σ over levels t of the increments of all bins except the N(t) greatest.
//! ```
//!
//! Example: g = 60 s, w = 20 s, no delay, j = 1. Bins 1, 2 and 3 hold 50, 30 and 20 fragments and would gain 50·40 +
//! 30·100 + 20·160 = 8,200 s. Each fragment loses 20 s at level 1, 40 s at level 2, and 60 s if its bin is not a sum.
//! However, a fragment in bin 1 never loses more than its 40 s. The increments from level 0 to 1 are 1,000, 600 and 400
//! s. At most one bin has level 0, so at least 600 + 400 s are lost. The increments from level 1 to 2 are the same, and
//! at most two bins have level 1 or less, so at least 400 s are lost. The increments from level 2 to 3 are 0, 600 and
//! 400 s. At most three bins have level 2 or less, so no further loss is certain. One length therefore gains at most
//! 8,200 − 1,400 = 6,800 s. A length of 1 minute gains exactly this: 50·40 + 30·80 + 20·120 s.

use super::candidates::Candidates;
use super::rests::Rests;

/// Buffers that are reused for every bound.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    /// The loss of each bin at the current level.
    losses: Vec<u64>,
    /// The increment of each bin's loss from the current level to the next.
    increments: Vec<u64>,
}

impl Bounds {
    /// An upper bound on the ready time that at most `lengths` further lengths can add, given the remaining lengths
    /// `rests`.
    pub fn of(&mut self, rests: &Rests, candidates: &Candidates, lengths: usize) -> u64 {
        if lengths == 0 {
            return 0;
        }
        let after_delay = rests.counts.get(candidates.delay..).unwrap_or_default();
        // No length fits the bins below the lowest length.
        let bins = || {
            let bins = after_delay.chunks(candidates.grid).enumerate();
            bins.skip(candidates.lowest)
        };
        let mut most: u64 = bins()
            .map(|(bin, rests)| sum(rests) * candidates.ready(bin))
            .sum();
        let number = bins().len();
        self.losses.clear();
        self.losses.resize(number, 0);
        // N(level), and the last summand of N(level): the number of sums of level + 1 lengths.
        let (mut spared, mut sums) = (lengths, lengths);
        for level in 1.. {
            if spared >= number || is_last(level - 1, candidates) {
                break;
            }
            self.increments.clear();
            for ((bin, rests), loss) in bins().zip(&mut self.losses) {
                let next = loss_at(level, rests, candidates.ready(bin), candidates);
                self.increments.push(next - *loss);
                *loss = next;
            }
            // Move the smallest increments to the end of the list, starting at index `spared`.
            let descending = |a: &u64, b: &u64| b.cmp(a);
            self.increments.select_nth_unstable_by(spared, descending);
            most -= sum(&self.increments[spared..]);
            // C(j + p - 1, p) for p = level + 1.
            sums = sums.saturating_mul(lengths + level) / (level + 1);
            spared = spared.saturating_add(sums);
        }
        most
    }
}

/// The least loss of a bin at `level`. `rests` counts the bin's fragments by x mod g, in units. Without loss, each
/// fragment would gain `gain`.
fn loss_at(level: usize, rests: &[u64], gain: u64, candidates: &Candidates) -> u64 {
    let missed = candidates.step.min(gain);
    let startups = (level as u64).saturating_mul(candidates.startup);
    // These fragments have no room for the delays of the pilots after the first pilot.
    let too_short = level.saturating_mul(candidates.delay).min(rests.len());
    sum(&rests[..too_short]) * missed + sum(&rests[too_short..]) * startups.min(missed)
}

/// Whether losses no longer grow after `level`.
fn is_last(level: usize, candidates: &Candidates) -> bool {
    let startups = (level as u64).saturating_mul(candidates.startup);
    let are_free = candidates.startup == 0 && candidates.delay == 0;
    are_free
        || startups >= candidates.step
        || level.saturating_mul(candidates.delay) >= candidates.grid
}

fn sum(numbers: &[u64]) -> u64 {
    numbers.iter().sum()
}
