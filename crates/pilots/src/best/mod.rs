//! Finds the best ladder under [`fits`] by an exact branch-and-bound search.
//!
//! A ladder is chosen from the multiples of a grid, such as all minutes up to 120. Under [`fits`], every fragment is
//! filled with pilots in descending order of length. The search therefore chooses the greatest length first and fills
//! the fragments with its pilots. It then continues with the next greatest length and the remaining lengths of the
//! fragments, which it keeps as a histogram. Each remaining length is shorter than the last chosen length plus a delay.
//! For example, after a length of 30 minutes with a delay of 1 minute, each remaining length is below 31 minutes. The
//! ready time of the lengths chosen so far is final, because a shorter length never changes the pilots of a longer
//! length.
//!
//! At every node of the search tree, [`Bounds`](bound::Bounds) computes an upper bound on the ready time that the
//! remaining lengths can add. The children of a node are visited by descending bound. A child that cannot beat the best
//! ladder found so far is skipped.

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

/// The maximum number of lengths of a ladder that [`best`] finds.
pub const MOST_LENGTHS: usize = 64;

/// The lengths from which ladders are chosen: the multiples of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Grid {
    /// The step, at least 1.
    pub step: u64,
    /// The longest length. The grid ends at the greatest multiple of the step that does not exceed this length.
    pub longest: u64,
}

/// The best ladder that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Best {
    /// Lengths of the ladder, in ascending order. There are fewer lengths than allowed if no further length helps.
    pub lengths: Vec<u64>,
    /// Ready time of the ladder.
    pub ready: u64,
    /// An upper bound on the ready time of every ladder. The bound equals `ready` unless the search was cut short.
    pub bound: u64,
}

impl Best {
    /// Whether this ladder is proven optimal: no other ladder has a greater ready time.
    pub fn is_proven(&self) -> bool {
        self.ready == self.bound
    }
}

/// Finds the best ladders of at most 1, 2, …, `count` lengths from `grid`.
///
/// The search for each of these ladders takes at most `time_limit`, and ends early if the observer requests a stop. An
/// incomplete search returns the best ladder found so far, and an upper bound on the ready time of every ladder. After
/// a stop, ladders with more lengths are not searched for and are missing from the result.
///
/// # Errors
/// The grid has too many lengths, no length of the grid exceeds the start-up, or `count` exceeds [`MOST_LENGTHS`].
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
        // The best ladder of fewer lengths is also a ladder of at most this many lengths.
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
