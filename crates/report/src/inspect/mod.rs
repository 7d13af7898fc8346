//! The sections of a page about an event log.

use super::lengths::{Class, Lengths};
use super::{Block, Section, fragments};
use gleaner_inspect::{Bin, Inspection};

mod calendar;
mod findings;
mod gaps;
mod overview;
mod suggestion;
mod timeline;

/// The sections about a log.
pub(super) fn sections(log: &Inspection) -> Vec<Section> {
    vec![idle(log), when(log), trust(log), suggestion::section(log)]
}

/// How much is idle, and in what fragments.
fn idle(log: &Inspection) -> Section {
    let fragments = classes(&log.fragments.lengths.bins);
    let blocks = [
        Some(Block::Tiles(overview::tiles(log))),
        timeline::figure(log).map(Block::figure),
        Some(Block::figure(fragments::figure(
            "fragments".to_owned(),
            fragments,
        ))),
        Some(Block::Folded(overview::lengths(log))),
    ];
    Section {
        id: "idle".to_owned(),
        title: "What is idle".to_owned(),
        lead: overview::lead(log),
        blocks: blocks.into_iter().flatten().collect(),
    }
}

/// When it is idle.
fn when(log: &Inspection) -> Section {
    Section {
        id: "when".to_owned(),
        title: "When it is idle".to_owned(),
        lead: "Hours and weekdays are those of the log's own clock.".to_owned(),
        blocks: vec![
            Block::figure(calendar::hours(log)),
            Block::figure(calendar::weekdays(log)),
            Block::figure(calendar::week(log)),
        ],
    }
}

/// How far to trust the log.
fn trust(log: &Inspection) -> Section {
    let mut blocks = vec![Block::figure(gaps::figure(log))];
    blocks.extend(findings::suspicions(log));
    blocks.extend(findings::nodes(log));
    Section {
        id: "trust".to_owned(),
        title: "How far to trust the log".to_owned(),
        lead: "Spans that a collector at fault, not the machine, may have written, and nodes \
               that never change."
            .to_owned(),
        blocks,
    }
}

fn classes(bins: &[Bin]) -> Vec<Class> {
    let class = |bin: &Bin| Class {
        from: bin.from_s,
        to: bin.to_s,
        count: bin.count as u64,
        seconds: bin.sum_s,
    };
    bins.iter().map(class).collect()
}

/// The bins as classes of lengths. The texts are those of [`Lengths`].
fn lengths(
    bins: &[Bin],
    counted: &'static str,
    summed: &'static str,
    unit: &'static str,
) -> Lengths {
    Lengths {
        classes: classes(bins),
        counted,
        summed,
        unit,
    }
}
