//! The time axis of searches: hours since each replay's first event.

use super::Searched;
use crate::figure::Axis;
use gleaner_domain::Utc;

const HOUR: f64 = 3_600.0;
/// Number of steps per hour to which positions on the axis are rounded.
const PARTS: f64 = 1e4;

/// The horizontal axis.
pub(super) fn axis() -> Axis {
    Axis::linear("hours since the first event")
}

/// Returns the position of `time` on the axis of `run`. The position is rounded, because the page shows
/// all its decimals on hover.
pub(super) fn at(run: &Searched<'_>, time: Utc) -> f64 {
    let place = time.seconds_since(run.from) / HOUR;
    (place * PARTS).round() / PARTS
}
