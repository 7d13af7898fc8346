//! The sections of a page about an event log.

use super::{Block, Section, fragments};
use gleaner_inspect::Inspection;
use gleaner_runs::inspect as told;
use gleaner_runs::inspect::{CostSource, facts, suggested};

mod calendar;
mod findings;
mod gaps;
mod quantiles;
mod suggestion;
mod timeline;

/// The sections about a log. `source` is the source of the rescale costs on which the suggestion is based.
pub(super) fn sections(log: &Inspection, source: CostSource) -> Vec<Section> {
    let window = suggestion::section(log, source);
    vec![idle(log), when(log), trust(log), window]
}

/// The section about the amount of idle node-time and its fragments.
fn idle(log: &Inspection) -> Section {
    let mut facts = facts(log);
    let lead = facts[0].told();
    facts.push(suggested(&log.suggestion));
    let blocks = [
        Some(Block::Facts(facts)),
        told::by_class(log).map(Block::Grid),
        timeline::figure(log).map(Block::figure),
        Some(Block::figure(fragments::figure(
            "fragments".to_owned(),
            &told::fragments(log),
        ))),
        Some(Block::Folded(quantiles::grid(log))),
    ];
    Section {
        id: "idle".to_owned(),
        title: "Idle node-time".to_owned(),
        lead,
        blocks: blocks.into_iter().flatten().collect(),
    }
}

/// The section about idle nodes by hour, by weekday, and over time.
fn when(log: &Inspection) -> Section {
    Section {
        id: "when".to_owned(),
        title: "When nodes are idle".to_owned(),
        lead: "Hours and weekdays are in the log's local time.".to_owned(),
        blocks: vec![
            Block::figure(calendar::hours(log)),
            Block::figure(calendar::weekdays(log)),
            Block::figure(calendar::week(log)),
        ],
    }
}

/// The section about signs of a faulty log.
fn trust(log: &Inspection) -> Section {
    let mut blocks = vec![Block::figure(gaps::figure(log))];
    blocks.push(findings::suspicions(log));
    blocks.extend(findings::nodes(log));
    Section {
        id: "trust".to_owned(),
        title: "How far to trust the log".to_owned(),
        lead: "Spans that may come from a faulty collector rather than from the machine, and nodes whose state never \
               changes."
            .to_owned(),
        blocks,
    }
}
