//! The remaining lengths of the fragments once pilots of a ladder's greatest lengths are placed.

use super::super::Fragments;
use super::candidates::Candidates;

/// The fragments, or their remaining lengths once pilots are placed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source<'a> {
    /// The whole fragments: no length has been chosen yet.
    Fragments(&'a Fragments),
    /// The remaining lengths once pilots of the lengths chosen so far are placed.
    Rests(&'a Rests),
}

/// Number of fragments by remaining length, in units: entry `r` counts the fragments with `r` units left.
///
/// Remaining lengths are rounded down to units. Rounding loses nothing, because every pilot takes a whole number of
/// units.
#[derive(Debug, Clone, Default)]
pub(super) struct Rests {
    pub counts: Vec<u64>,
}

impl Source<'_> {
    /// Fills all fragments with pilots of one length. Writes the remaining lengths to `left`, and returns the number of
    /// pilots.
    pub fn fill(self, candidates: &Candidates, multiple: usize, left: &mut Rests) -> u64 {
        let taken = candidates.taken(multiple);
        left.counts.clear();
        left.counts.resize(taken, 0);
        match self {
            Source::Fragments(fragments) => fill_fragments(fragments, candidates, taken, left),
            Source::Rests(rests) => fill_rests(rests, taken, left),
        }
    }
}

fn fill_fragments(
    fragments: &Fragments,
    candidates: &Candidates,
    taken: usize,
    left: &mut Rests,
) -> u64 {
    let mut pilots = 0;
    for &(length, number) in fragments.counts() {
        let length = length / candidates.unit;
        pilots += length / taken as u64 * number;
        left.counts[(length % taken as u64) as usize] += number;
    }
    pilots
}

/// Fills the remaining lengths of the fragments with pilots of one length, without a division for each remaining
/// length.
///
/// Example: the remaining lengths are 0 to 9 units, and a pilot takes 4 units. Fragments with 4 to 7 units left hold
/// one pilot and leave 0 to 3 units. Fragments with 8 or 9 units left hold two pilots and leave 0 or 1. Therefore,
/// `left` is the sum of the pieces 0..4, 4..8 and 8..10 of the counts.
fn fill_rests(rests: &Rests, taken: usize, left: &mut Rests) -> u64 {
    let mut pilots = 0;
    for (fitting, piece) in rests.counts.chunks(taken).enumerate() {
        let mut number = 0;
        for (left, &count) in left.counts.iter_mut().zip(piece) {
            *left += count;
            number += count;
        }
        pilots += fitting as u64 * number;
    }
    pilots
}
