//! The best ladder under [`fits`]: exact branch and bound.
//!
//! A ladder is chosen from the multiples of a grid, such as all minutes up to 120. Under [`fits`], each length takes its
//! turn in every fragment, from the greatest down (see there). So the search chooses the greatest length first, computes
//! the rests that it leaves, and goes on with these rests and the next greatest length. The rests are a histogram, which
//! is shorter than the length chosen last: after 30 minutes, every rest is below 30 minutes and a delay. The ready time of the
//! lengths chosen so far is final, because a shorter length never changes what a longer one takes.
//!
//! At every node of the search tree, [`Bounds`](bound::Bounds) gives an upper bound on what the remaining lengths can
//! add. Nodes are visited in the order of their bounds. A node that cannot beat the best ladder found so far is skipped.

mod bound;
mod candidates;
mod rests;
mod search;

use std::time::{Duration, Instant};

use gleaner_observer::Observer;
use serde::Serialize;

use super::{Costs, Fault, Fragments};
use candidates::Candidates;
pub use candidates::MOST_CANDIDATES;
use search::Search;

/// The greatest number of lengths of a ladder that [`best`] finds.
pub const MOST_LENGTHS: usize = 64;

/// The lengths out of which ladders are chosen: the multiples of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Grid {
    /// The step, at least 1.
    pub step: u64,
    /// The longest length. Lengths are multiples of the step up to it.
    pub longest: u64,
}

/// The best ladder that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Best {
    /// Its lengths, ascending. There are fewer than allowed if no further length helps.
    pub lengths: Vec<u64>,
    /// Its ready time.
    pub ready: u64,
    /// No ladder has a greater ready time than this. It equals `ready` unless the search was cut short.
    pub bound: u64,
}

impl Best {
    /// Whether no other ladder has a greater ready time.
    pub fn is_proven(&self) -> bool {
        self.ready == self.bound
    }
}

/// Finds the best ladder of at most 1, 2, …, `count` lengths out of `grid`.
///
/// The search for each of these ladders ends after `time_limit`, or when the observer stops it. The best ladder found
/// so far is then returned with an upper bound on the best one. If the observer stops the search, ladders of more
/// lengths are missing.
///
/// # Errors
/// The grid has no length that exceeds the start-up, or it has too many, or `count` exceeds [`MOST_LENGTHS`].
pub fn best(
    fragments: &Fragments,
    grid: Grid,
    costs: Costs,
    count: usize,
    time_limit: Duration,
    observer: &dyn Observer,
) -> Result<Vec<Best>, Fault> {
    let candidates = Candidates::of(grid, costs)?;
    if count > MOST_LENGTHS {
        return Err(Fault::TooMany(count));
    }
    let mut found: Vec<Best> = Vec::new();
    let mut best = Vec::new();
    let mut ready = 0;
    for count in 1..=count {
        let deadline = Instant::now().checked_add(time_limit);
        let mut search = Search::new(fragments, candidates, count, deadline, observer);
        // The best ladder of fewer lengths is a ladder of at most this many.
        (search.best, search.ready) = (best, ready);
        search.run();
        (best, ready) = (search.best, search.ready);
        found.push(Best {
            lengths: best
                .iter()
                .rev()
                .map(|&multiple| candidates.length(multiple))
                .collect(),
            ready,
            bound: search.open.max(ready),
        });
        if observer.is_stopped() {
            break;
        }
    }
    Ok(found)
}
