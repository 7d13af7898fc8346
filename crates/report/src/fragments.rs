//! The histogram of the lengths of a log's idle fragments. It appears on the pages of replays, pilots and inspected
//! logs.

use super::Figure;
use super::figure::Axis;
use super::lengths::marks;
use super::numbers::{count, part};
use gleaner_runs::lengths::Lengths;

/// The histogram of the lengths in `lengths`.
pub(super) fn figure(id: String, lengths: &Lengths) -> Figure {
    let (all, short) = (lengths.count(), lengths.under(600.0));
    Figure {
        id,
        title: "Idle fragments by length".to_owned(),
        text: format!(
            "A fragment is a period during which a node stays idle. {} of the {} fragments are \
             shorter than 10 minutes and make up {} of the idle node-time.",
            part(short.0 as f64, all as f64),
            count(all),
            part(short.1, lengths.seconds()),
        ),
        x: Axis::names("", lengths.names()),
        y: Axis::linear("% of all"),
        numbers: lengths.grid("Idle fragments by length"),
        marks: marks(lengths),
    }
}
