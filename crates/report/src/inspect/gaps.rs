//! The lengths of the gaps between events.

use crate::Figure;
use crate::figure::Axis;
use crate::lengths::marks;
use crate::numbers::count;
use gleaner_domain::words::duration;
use gleaner_inspect::Inspection;
use gleaner_runs::inspect as told;

/// The histogram of the lengths of the gaps between events.
pub(super) fn figure(log: &Inspection) -> Figure {
    let gaps = &log.event_gaps;
    let lengths = told::gaps(log);
    let at = |percent| gaps.percentile(percent).map_or("–".to_owned(), duration);
    Figure {
        id: "gaps".to_owned(),
        title: "Gaps between events by length".to_owned(),
        text: format!(
            "{} gaps: half are at most {} long, 99 % at most {}, and the longest is {}.",
            count(gaps.count as u64),
            at(50.0),
            at(99.0),
            duration(gaps.max_s)
        ),
        x: Axis::names("", lengths.names()),
        y: Axis::linear("% of all"),
        numbers: lengths.grid("Gaps between events by length"),
        marks: marks(&lengths),
    }
}
