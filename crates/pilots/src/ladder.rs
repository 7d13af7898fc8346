//! Ladders: the allowed lengths of pilots, and the overhead of each pilot.

use serde::Serialize;

/// The maximum value of a length, a start-up or a delay: 136 years if the unit is a second. Sums of a length and a
/// delay therefore fit in 64 bits.
pub const LONGEST: u64 = u32::MAX as u64;

/// The overhead of every pilot: the time until the pilot is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Costs {
    /// Time from a pilot's start until the pilot is ready. This time is part of the pilot's length.
    pub startup: u64,
    /// Time that a node waits before each pilot starts.
    pub delay: u64,
}

/// The allowed lengths of pilots, and the overhead of each pilot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ladder {
    /// The lengths, which are distinct, in ascending order, and longer than the start-up.
    lengths: Vec<u64>,
    costs: Costs,
}

/// The reasons why pilots cannot be simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A ladder without lengths.
    #[error("a ladder needs at least one length")]
    NoLength,
    /// A length occurs more than once.
    #[error("the length {0} occurs twice")]
    Twice(u64),
    /// A pilot ends before it is ready.
    #[error("a pilot of length {length} never becomes ready, because its start-up takes {startup}")]
    NeverReady {
        /// Length of the pilot.
        length: u64,
        /// Start-up time of the pilot.
        startup: u64,
    },
    /// A length, a start-up or a delay exceeds [`LONGEST`].
    #[error("{0} is too long: expected at most {LONGEST}")]
    TooLong(u64),
    /// The grid has too many lengths, or a length of too many units.
    #[error(
        "a grid of {lengths} lengths of up to {units} units is too fine: expected at most {max} lengths and a million \
         units",
        max = crate::MOST_CANDIDATES
    )]
    TooFine {
        /// Number of lengths in the grid.
        lengths: u64,
        /// The longest length plus its delay, in units. A unit is the greatest common divisor of the grid and the
        /// delay.
        units: u64,
    },
    /// A ladder of more than [`MOST_LENGTHS`](crate::MOST_LENGTHS) lengths.
    #[error("found {0} lengths, expected at most {max}", max = crate::MOST_LENGTHS)]
    TooMany(usize),
    /// The lengths of all fragments together exceed 64 bits.
    #[error("the total length of all fragments exceeds 64 bits")]
    TooMuch,
    /// The model [`lost`](crate::lost()) would need more than [`MOST_AGES`](crate::MOST_AGES) ages.
    #[error("found {0} ages of fragments, expected at most {max}", max = crate::MOST_AGES)]
    TooManyAges(u64),
    /// The observer stopped the computation.
    #[error("stopped")]
    Stopped,
}

impl Ladder {
    /// Builds a ladder from lengths in any order.
    ///
    /// # Errors
    /// There is no length, a length occurs twice or is not longer than the start-up, or a time exceeds [`LONGEST`].
    pub fn new(lengths: impl IntoIterator<Item = u64>, costs: Costs) -> Result<Self, Fault> {
        let mut lengths: Vec<u64> = lengths.into_iter().collect();
        lengths.sort_unstable();
        let (Some(&shortest), Some(&longest)) = (lengths.first(), lengths.last()) else {
            return Err(Fault::NoLength);
        };
        for time in [longest, costs.startup, costs.delay] {
            if time > LONGEST {
                return Err(Fault::TooLong(time));
            }
        }
        if shortest <= costs.startup {
            return Err(Fault::NeverReady {
                length: shortest,
                startup: costs.startup,
            });
        }
        match lengths.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Fault::Twice(pair[0])),
            None => Ok(Ladder { lengths, costs }),
        }
    }

    /// The lengths, in ascending order.
    pub fn lengths(&self) -> &[u64] {
        &self.lengths
    }

    /// The overhead of every pilot.
    pub fn costs(&self) -> Costs {
        self.costs
    }
}

/// The greatest common divisor; `gcd(0, b)` is `b`.
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if a == 0 { b } else { gcd(b % a, a) }
}
