//! The section about the searches that replays ran.

use super::{Named, identity};
use crate::figure::Colour;
use crate::{Block, Section};
use gleaner_domain::results::search::SearchOutcome;
use gleaner_domain::{Local, Utc};

mod best;
mod clock;
mod figures;
mod front;
mod reached;
mod rungs;
mod told;

/// A replay that ran a search.
struct Searched<'a> {
    run: Named<'a>,
    outcome: &'a SearchOutcome,
    /// The replay's colour in all figures of the page.
    colour: Colour,
    /// Time of the first event that was replayed.
    from: Utc,
    /// Time of the last event that was replayed.
    to: Utc,
}

impl<'a> Searched<'a> {
    /// The replay at index `place` of `runs`; `None` if it ran no search.
    fn of(runs: &[Named<'a>], place: usize) -> Option<Self> {
        let run = runs[place];
        let outcome = run.result.search.as_ref()?;
        let summary = &run.result.summary;
        let times = || outcome.events.iter().map(|event| event.time);
        let ends = times().next().zip(times().next_back());
        let (first, last) = ends.unwrap_or((Utc(0), Utc(0)));
        Some(Searched {
            run,
            outcome,
            colour: identity(runs, place, "").1,
            from: parsed(&summary.from).unwrap_or(first),
            to: parsed(&summary.to).unwrap_or(last),
        })
    }
}

/// A time in a summary, interpreted as UTC, like the times in the tables.
fn parsed(text: &str) -> Option<Utc> {
    let time: Local = text.parse().ok()?;
    Some(time.from_offset(0))
}

/// Explanation of the terms in the section.
const LEAD: &str = "A search trains trials rung by rung. At each rung, the search measures the trial's loss and \
                    decides whether the trial continues to the next rung. A trial that reaches the last rung is \
                    finished. The work of all other trials is wasted. Regret is the best finished trial's loss \
                    minus the lowest loss of all started trials, both at the last rung and without noise. Times are \
                    measured from the first event of each replay.";

/// The section; `None` if no replay ran a search. Replays without a search are left out.
pub(super) fn section(runs: &[Named<'_>]) -> Option<Section> {
    let searched = (0..runs.len()).filter_map(|place| Searched::of(runs, place));
    let searched: Vec<Searched<'_>> = searched.collect();
    if searched.is_empty() {
        return None;
    }
    let mut blocks = vec![
        Block::Grid(figures::of_searches(&searched)),
        best::block(&searched, runs.len() > 1),
    ];
    let is_alone = searched.len() == 1;
    let each = searched.iter().flat_map(|run| of_one(run, is_alone));
    blocks.extend(each);
    Some(Section {
        id: "search".to_owned(),
        title: match (searched.as_slice(), runs) {
            (_, [_]) => "Search".to_owned(),
            ([run], _) => format!("Search of {}", run.run.name),
            _ => "Searches side by side".to_owned(),
        },
        lead: LEAD.to_owned(),
        blocks,
    })
}

/// The rungs of one search, preceded by the front if its trials have several losses.
fn of_one(run: &Searched<'_>, is_alone: bool) -> Vec<Block> {
    let mut blocks = front::blocks(run, is_alone);
    blocks.extend(rungs_of(run, is_alone));
    blocks
}

/// The trials at each rung of one search: a figure and a table.
fn rungs_of(run: &Searched<'_>, is_alone: bool) -> Vec<Block> {
    if run.outcome.rungs.is_empty() {
        return vec![Block::Note(format!(
            "No trial of {} reached a rung.",
            run.run.name
        ))];
    }
    let (figure, table) = (reached::figure(run, is_alone), rungs::grid(run, is_alone));
    if is_alone {
        vec![Block::figure(figure), Block::Grid(table)]
    } else {
        vec![Block::figure(figure), Block::Folded(table)]
    }
}

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;
