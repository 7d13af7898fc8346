//! The inspection of an event log as facts and tables for the terminal and the page, and as JSON.

mod calendar;
mod classes;
mod findings;
mod overview;

pub use calendar::{hours, weekday_names, weekdays};
pub use classes::by_class;
pub use findings::{CostSource, reasons, suggested, suspicions};
pub use overview::facts;

use gleaner_document::Block;
use gleaner_domain::error::Result;
use gleaner_inspect::{Bin, Inspection};

use super::lengths::{Class, Lengths};

/// Maximum number of suspicious spans in the text.
const SPANS: usize = 10;

/// The inspection as pretty-printed JSON.
///
/// # Errors
/// Returns an error if serialisation fails, which does not occur in practice.
pub fn json(inspection: &Inspection) -> Result<String> {
    crate::pretty::json(inspection)
}

/// The output of `gleaner inspect`. `source` is the source of the rescale costs on which the suggestion is based.
pub fn printed(i: &Inspection, source: CostSource) -> Vec<Block> {
    let mut blocks = vec![Block::Facts(facts(i))];
    blocks.extend(by_class(i).map(Block::Grid));
    blocks.extend([
        Block::Grid(fragments(i).grid("Idle fragments by length")),
        Block::Grid(hours(&i.calendar)),
        Block::Grid(weekdays(&i.calendar)),
        suspicions(i, SPANS),
        Block::Facts(vec![suggested(&i.suggestion)]),
        Block::Note(reasons(&i.suggestion, source)),
    ]);
    blocks
}

/// The histogram of the lengths of the idle fragments.
pub fn fragments(i: &Inspection) -> Lengths {
    Lengths::of_fragments(length_classes(&i.fragments.lengths.bins))
}

/// The histogram of the lengths of the gaps between events.
pub fn gaps(i: &Inspection) -> Lengths {
    Lengths {
        classes: length_classes(&i.event_gaps.bins),
        counted: "Gaps",
        summed: "Time",
        unit: "hours",
    }
}

/// Converts the bins of a histogram to classes.
pub(crate) fn length_classes(bins: &[Bin]) -> Vec<Class> {
    let class = |bin: &Bin| Class {
        from: bin.from_s,
        to: bin.to_s,
        count: bin.count as u64,
        seconds: bin.sum_s,
    };
    bins.iter().map(class).collect()
}
