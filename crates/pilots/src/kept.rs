//! The model in which the work of preempted pilots is kept.

use serde::Serialize;

use super::{Costs, Fragments};

/// The use of the idle time if one pilot runs in each fragment until it is preempted.
///
/// The three times add up to [`Fragments::total`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Kept {
    /// Total time during which pilots are ready.
    pub ready: u64,
    /// Total time that pilots spend starting up.
    pub startup: u64,
    /// Total time that nodes wait for pilots to start.
    pub delay: u64,
}

/// Runs one pilot in each fragment, from the end of the delay to the end of the fragment.
///
/// No ladder beats a single long wall time, because a second pilot in the same fragment would only add another
/// start-up.
pub fn kept(fragments: &Fragments, costs: Costs) -> Kept {
    let mut kept = Kept::default();
    for &(length, number) in fragments.counts() {
        let run = length.saturating_sub(costs.delay);
        let ready = run.saturating_sub(costs.startup);
        kept.ready += ready * number;
        kept.startup += (run - ready) * number;
        kept.delay += (length - run) * number;
    }
    kept
}
