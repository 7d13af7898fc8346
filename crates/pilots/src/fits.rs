//! The model in which the scheduler knows every fragment's length.

use serde::Serialize;

use super::{Fragments, Ladder};

/// The use of the idle time if the scheduler starts only pilots that end within the fragment.
///
/// The four times add up to [`Fragments::total`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Fits {
    /// Total time during which pilots are ready.
    pub ready: u64,
    /// Total time that pilots spend starting up.
    pub startup: u64,
    /// Total time that nodes wait for pilots to start.
    pub delay: u64,
    /// Total time at the ends of fragments, where no further pilot fits.
    pub unused: u64,
    /// Number of pilots, all of which end by themselves.
    pub pilots: u64,
}

/// The place of a pilot in a fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Time at which the pilot starts, after its delay, counted from the start of the fragment.
    pub start: u64,
    /// Length of the pilot.
    pub length: u64,
}

/// The pilots of one fragment under [`fits`], in the order in which they run.
pub fn placed(fragment: u64, ladder: &Ladder) -> impl Iterator<Item = Placed> {
    let delay = ladder.costs().delay;
    let mut end = 0;
    let lengths = ladder.lengths().iter().rev();
    lengths.flat_map(move |&length| {
        let from = end;
        let pilots = (fragment - from) / (length + delay);
        end = from + pilots * (length + delay);
        (0..pilots).map(move |before| Placed {
            start: from + before * (length + delay) + delay,
            length,
        })
    })
}

/// Fills each fragment: repeatedly starts the longest pilot that fits the rest of the fragment, until the shortest
/// pilot no longer fits.
///
/// A pilot of length ℓ fits a remaining length r if r ≥ d + ℓ, for a delay d. It leaves r − d − ℓ.
pub fn fits(fragments: &Fragments, ladder: &Ladder) -> Fits {
    let costs = ladder.costs();
    let mut fits = Fits::default();
    for &(length, number) in fragments.counts() {
        let mut rest = length;
        // A pilot that does not fit now does not fit later either, because the remaining length only shrinks.
        // Therefore, each pilot length is tried only once, in descending order: ⌊r / (ℓ + d)⌋ pilots of the length fit
        // one after another. For example, with pilots of 2 and 6, no delay, and a remaining length of 15, two pilots of
        // 6 leave 3, and one pilot of 2 leaves 1.
        for &pilot in ladder.lengths().iter().rev() {
            let pilots = rest / (pilot + costs.delay) * number;
            rest %= pilot + costs.delay;
            fits.pilots += pilots;
            fits.ready += pilots * (pilot - costs.startup);
        }
        fits.unused += rest * number;
    }
    fits.startup = fits.pilots * costs.startup;
    fits.delay = fits.pilots * costs.delay;
    fits
}
