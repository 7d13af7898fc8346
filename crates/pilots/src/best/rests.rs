//! The parts of the fragments that are left once the pilots of the greatest lengths of a ladder are placed.

use super::super::Fragments;
use super::candidates::Candidates;

/// The fragments, or the parts of fragments that are left once pilots are placed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source<'a> {
    /// The whole fragments: no length has been chosen yet.
    Fragments(&'a Fragments),
    /// The rests that the lengths chosen so far leave.
    Rests(&'a Rests),
}

/// Number of fragments with each rest, in units. A rest of `r` units is counted at index `r`.
///
/// Rests are rounded down to units. Rounding loses nothing, because every pilot takes a whole number of units.
#[derive(Debug, Clone, Default)]
pub(super) struct Rests {
    pub counts: Vec<u64>,
}

impl Source<'_> {
    /// Fills all fragments with pilots of one length. Writes the rests to `left`, and returns the number of pilots.
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

/// Example: rests of 0 to 9 units, and pilots that take 4 units. Rests 4 to 7 hold one pilot and leave 0 to 3; rests 8
/// and 9 hold two and leave 0 and 1. So `left` is the sum of the pieces 0..4, 4..8 and 8..10. This method needs no
/// division.
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
