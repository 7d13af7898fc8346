//! The lowest loss of the trials that have reached the last rung, over time.

use super::Searched;
use super::clock;
use super::told::{loss, resource};
use crate::curves::{millis, minute};
use crate::figure::{Axis, Curve, Marks, Shape};
use crate::names::short;
use crate::numbers::{count, in_hours};
use crate::{Block, Figure, Grid, Head};
use gleaner_domain::Utc;
use gleaner_domain::results::search::{TrialRow, TrialState};

/// A curve with more points than this has no hover text about the trials.
const TOLD: usize = 4_000;
/// Maximum number of trials of a run in the table.
const MAX_ROWS: usize = 100;

/// A trial that had the lowest loss so far when it reached the last rung.
struct Best<'a> {
    trial: &'a TrialRow,
    time: Utc,
    loss: f64,
}

/// The figure, or a note if no trial of any run reached the last rung. If `is_named`, each curve is named after its
/// run, because the page has several runs.
pub(super) fn block(runs: &[Searched<'_>], is_named: bool) -> Block {
    let bests: Vec<Vec<Best<'_>>> = runs.iter().map(bests).collect();
    if bests.iter().all(Vec::is_empty) {
        let note = "No trial reached the last rung, so there is no best loss.";
        return Block::Note(note.to_owned());
    }
    let curves = runs.iter().zip(&bests);
    let curves = curves.filter(|(_, bests)| !bests.is_empty());
    let curves = curves.map(|(run, bests)| Curve {
        name: if is_named {
            run.run.name.to_owned()
        } else {
            "Best loss".to_owned()
        },
        ..curve(run, bests)
    });
    Block::figure(Figure {
        id: "best-loss".to_owned(),
        title: "Best loss so far".to_owned(),
        text: text(runs, &bests),
        x: clock::axis(),
        y: Axis::spread("loss"),
        marks: Marks::Curves(curves.collect()),
        numbers: numbers(runs, &bests),
    })
}

/// The trials that were the best so far when they reached the last rung, in chronological order.
fn bests<'a>(run: &Searched<'a>) -> Vec<Best<'a>> {
    let finished = run.outcome.trials.iter();
    let finished = finished.filter(|trial| trial.state == TrialState::Finished);
    let measured = finished.filter_map(|trial| {
        Some(Best {
            trial,
            time: trial.end?,
            loss: trial.loss.filter(|loss| loss.is_finite())?,
        })
    });
    let mut bests: Vec<Best<'_>> = measured.collect();
    // If several trials reach the last rung at the same time, the best of them comes first, so that only this trial
    // is kept.
    bests.sort_by(|a, b| a.time.cmp(&b.time).then(a.loss.total_cmp(&b.loss)));
    let mut least = f64::INFINITY;
    bests.retain(|best| {
        let is_better = best.loss < least;
        least = least.min(best.loss);
        is_better
    });
    bests
}

/// The curve without its name. It has a point for each improvement, and repeats the last loss at the end of the replay.
fn curve(run: &Searched<'_>, bests: &[Best<'_>]) -> Curve {
    let last = bests.last().filter(|last| run.to > last.time);
    let point = |best: &Best<'_>| (clock::at(run, best.time), best.loss);
    let mut points: Vec<(f64, f64)> = bests.iter().map(point).collect();
    points.extend(last.map(|best| (clock::at(run, run.to), best.loss)));
    let told = match points.len() {
        0..=TOLD => bests.iter().chain(last).map(|b| label(run, b)).collect(),
        _ => Vec::new(),
    };
    Curve {
        name: String::new(),
        colour: run.colour,
        shape: Shape::Stairs,
        points,
        labels: told,
    }
}

fn label(run: &Searched<'_>, best: &Best<'_>) -> String {
    format!(
        "trial {}, loss {}, after {}",
        best.trial.trial,
        loss(best.loss),
        after(run, best)
    )
}

/// The time from the replay's first event until the trial reached the last rung.
fn after(run: &Searched<'_>, best: &Best<'_>) -> String {
    in_hours(best.time.seconds_since(run.from))
}

fn text(runs: &[Searched<'_>], bests: &[Vec<Best<'_>>]) -> String {
    let what = "The lowest loss of the trials that have reached the last rung, with a dot for each \
                trial that lowered it.";
    let each = runs.iter().zip(bests).map(|(run, bests)| {
        let told = bests.last().map_or(
            "none, because no trial reached the last rung".to_owned(),
            |best| {
                format!(
                    "trial {} with {} at resource {}, {} after the first event",
                    best.trial.trial,
                    loss(best.loss),
                    resource(best.trial.resource),
                    after(run, best)
                )
            },
        );
        match runs {
            [_] => told,
            _ => format!("{}: {told}", run.run.name),
        }
    });
    let each = each.collect::<Vec<_>>().join("; ");
    format!("{what} Best trial at the end: {each}.")
}

fn numbers(runs: &[Searched<'_>], bests: &[Vec<Best<'_>>]) -> Grid {
    let title = if bests.iter().all(|bests| bests.len() <= MAX_ROWS) {
        "Trials that were the best so far".to_owned()
    } else {
        format!("The last {MAX_ROWS} trials that were the best so far")
    };
    let heads = [
        Head::text("run"),
        Head::number("trial"),
        Head::text("task"),
        Head::text("reached the last rung"),
        Head::number("after the first event"),
        Head::number("loss"),
    ];
    let mut grid = Grid::new(title, heads);
    for (run, bests) in runs.iter().zip(bests) {
        for best in &bests[bests.len().saturating_sub(MAX_ROWS)..] {
            grid.row([
                run.run.name.to_owned(),
                count(best.trial.trial),
                short(&best.trial.task),
                minute(millis(best.time)),
                after(run, best),
                loss(best.loss),
            ]);
        }
    }
    grid
}
