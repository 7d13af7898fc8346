//! Checks the models against plain second-by-second simulations, and the best ladders against an enumeration of all
//! ladders.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod best;
mod faults;
mod models;

use gleaner_pilots::{Costs, Ladder};
use proptest::prelude::*;

/// Costs with a start-up below `startup` and a delay below `delay`.
fn costs(startup: u64, delay: u64) -> impl Strategy<Value = Costs> {
    (0..startup, 0..delay).prop_map(|(startup, delay)| Costs { startup, delay })
}

/// Lengths of fragments. Some lengths occur several times, and some are 0.
fn lengths(longest: u64) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(0..=longest, 0..30)
}

/// Ladders of up to four lengths.
fn ladders() -> impl Strategy<Value = Ladder> {
    let lengths = prop::collection::btree_set(1u64..12, 1..5);
    (costs(6, 4), lengths).prop_map(|(costs, lengths)| {
        let longer = lengths.into_iter().map(|length| length + costs.startup);
        Ladder::new(longer, costs).unwrap()
    })
}
