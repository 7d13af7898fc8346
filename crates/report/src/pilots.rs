//! The sections of a page about pilot jobs on idle nodes.

use super::figure::{Axis, Colour, Curve, Marks, Part, Shape};
use super::fragments as histogram;
use super::numbers::percent;
use super::{Block, Figure, Grid, Head, Section};
use gleaner_domain::results::pilots::{Ladder, Pilots};
use gleaner_inspect::Fragments;
use gleaner_runs::pilots::{
    best, chosen, facts, fragments, minutes, models, notes, steps, unproven,
};

/// The sections about pilots. `of` describes the idle fragments of the log.
pub(super) fn sections(pilots: &Pilots, of: &Fragments) -> Vec<Section> {
    let mut blocks = vec![Block::Facts(facts(pilots, of)), Block::Note(notes(pilots))];
    if let Some(ladder) = chosen(pilots) {
        blocks.push(Block::figure(by_model(pilots, ladder)));
        blocks.push(Block::Folded(steps(ladder)));
    }
    let mut sections = vec![Section {
        id: "pilots".to_owned(),
        title: "How pilots use the idle nodes".to_owned(),
        lead: "A pilot holds an idle node, and is ready after its start-up.".to_owned(),
        blocks,
    }];
    sections.extend(best_ladders(pilots));
    sections.push(Section {
        id: "lengths".to_owned(),
        title: "The idle fragments".to_owned(),
        lead: "The best wall times depend on the lengths of the idle fragments.".to_owned(),
        blocks: vec![Block::figure(histogram::figure(
            "fragments".to_owned(),
            &fragments(of),
        ))],
    });
    sections
}

/// Charts how a ladder uses the idle node-time under each model.
fn by_model(pilots: &Pilots, ladder: &Ladder) -> Figure {
    let (fits, kept, lost) = (&ladder.fits, &pilots.kept, &ladder.lost);
    let part = |name: &str, colour, shares: [f64; 3]| Part {
        name: name.to_owned(),
        colour,
        values: shares.map(|share| 100.0 * share).to_vec(),
        labels: shares.map(percent).to_vec(),
    };
    let shares = [
        [fits.ready_share, kept.ready_share, lost.ready_share],
        [fits.startup_share, kept.startup_share, lost.startup_share],
        [fits.delay_share, kept.delay_share, lost.delay_share],
        [fits.unused_share, 0.0, lost.unused_share],
    ];
    let names = [
        "ready",
        "starting up",
        "waiting for a pilot",
        "unused or lost",
    ];
    let colours = [
        Colour::Series(0),
        Colour::Series(1),
        Colour::Series(2),
        Colour::Muted,
    ];
    let parts = names.into_iter().zip(colours).zip(shares);
    Figure {
        id: "models".to_owned(),
        title: format!("Idle node-time with pilots of {} min", minutes(&ladder.lengths_min)),
        text: "fits: the scheduler knows how long nodes stay idle. kept and lost: it does not know this, and \
               preempted pilots keep (kept) or lose (lost) their work."
            .to_owned(),
        x: Axis::linear("% of idle node-time"),
        y: Axis::names("", ["fits", "kept", "lost"].map(str::to_owned).to_vec()),
        marks: Marks::Bars(
            parts
                .map(|((name, colour), shares)| part(name, colour, shares))
                .collect(),
        ),
        numbers: models(pilots, ladder),
    }
}

/// The section about the best ladders; `None` if the user gave the wall times.
fn best_ladders(pilots: &Pilots) -> Option<Section> {
    let grid = pilots.grid?;
    let table = best(pilots, grid);
    let mut blocks = vec![Block::figure(by_lengths(pilots))];
    blocks.push(Block::Grid(table));
    blocks.extend(unproven(pilots).map(Block::Note));
    Some(Section {
        id: "best".to_owned(),
        title: "The best wall times".to_owned(),
        lead: "Under fits, each of these ladders has the greatest ready share of all ladders with the same number \
               of wall times or fewer."
            .to_owned(),
        blocks,
    })
}

/// Charts the ready share of the best ladders by their number of wall times.
fn by_lengths(pilots: &Pilots) -> Figure {
    let curve = |name: &str, series, share: &dyn Fn(&Ladder) -> f64| Curve {
        name: name.to_owned(),
        colour: Colour::Series(series),
        shape: Shape::Dotted,
        points: (1..)
            .zip(&pilots.ladders)
            .map(|(most, ladder)| (f64::from(most), 100.0 * share(ladder)))
            .collect(),
        labels: pilots
            .ladders
            .iter()
            .map(|ladder| {
                format!(
                    "{} min: {}",
                    minutes(&ladder.lengths_min),
                    percent(share(ladder))
                )
            })
            .collect(),
    };
    let heads = [
        Head::number("wall times"),
        Head::number("fits"),
        Head::number("kept"),
        Head::number("lost"),
    ];
    let numbers = Grid::of(
        "Ready share by number of wall times",
        heads,
        (1..).zip(&pilots.ladders),
        |(most, ladder)| {
            [
                most.to_string(),
                percent(ladder.fits.ready_share),
                percent(pilots.kept.ready_share),
                percent(ladder.lost.ready_share),
            ]
        },
    );
    Figure {
        id: "wall-times".to_owned(),
        title: "Ready share by number of wall times".to_owned(),
        text: "The ladders are the best ones under fits. kept does not depend on the ladder."
            .to_owned(),
        x: Axis::spread("wall times in the ladder"),
        y: Axis::spread("ready share (% of idle node-time)"),
        marks: Marks::Curves(vec![
            curve("fits", 0, &|ladder| ladder.fits.ready_share),
            curve("kept", 1, &|_| pilots.kept.ready_share),
            curve("lost", 2, &|ladder| ladder.lost.ready_share),
        ]),
        numbers,
    }
}
