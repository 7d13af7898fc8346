//! The non-dominated front of a search with several losses, over time.

use super::Searched;
use super::told::loss;
use crate::figure::{Axis, Colour, Curve, Marks, Shape};
use crate::names::short;
use crate::numbers::{count, in_hours};
use crate::replay::id_of;
use crate::{Block, Figure, Grid, Head};
use gleaner_domain::results::search::{TrialRow, TrialState};
use gleaner_domain::words::counted;
use gleaner_search::Fronts;

/// Maximum number of fronts in a figure. The finished trials are divided into equal parts, with a front after each.
const FRONTS: usize = 4;
/// Maximum number of trials in the table.
const MAX_ROWS: usize = 100;
/// Maximum number of dots for trials that are not on the last front.
const MAX_DOTS: usize = 10_000;

/// The figures of the front; none if the search has only one loss or no trial reached the last rung. Each figure shows
/// the first loss and one of the other losses. `is_alone` is true if the page has no other search.
pub(super) fn blocks(run: &Searched<'_>, is_alone: bool) -> Vec<Block> {
    let finished = finished(run);
    let Some(first) = finished.first() else {
        return Vec::new();
    };
    let names: Vec<&str> = first
        .losses
        .0
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let over_time = fronts(&finished);
    let others = 1..names.len();
    others
        .map(|other| Block::figure(figure(run, &finished, &over_time, &names, other, is_alone)))
        .collect()
}

/// The front of the first `length` finished trials.
struct Front<'a> {
    /// Number of finished trials among which the front is determined.
    length: usize,
    /// The trials that none of these finished trials dominates, in ascending order of their first loss.
    trials: Vec<&'a TrialRow>,
}

/// The trials that reached the last rung with finite losses, in chronological order.
fn finished<'a>(run: &Searched<'a>) -> Vec<&'a TrialRow> {
    let trials = run.outcome.trials.iter();
    let finished = trials.filter(|trial| {
        let losses = &trial.losses.0;
        let is_measured = losses.len() > 1 && losses.iter().all(|(_, loss)| loss.is_finite());
        trial.state == TrialState::Finished && is_measured
    });
    let mut finished: Vec<&TrialRow> = finished.collect();
    finished.sort_by_key(|trial| trial.end);
    finished
}

/// Charts the first loss and the loss at index `other`.
fn figure(
    run: &Searched<'_>,
    finished: &[&TrialRow],
    over_time: &[Front<'_>],
    names: &[&str],
    other: usize,
    is_alone: bool,
) -> Figure {
    let title = format!("Front over time: {} and {}", names[0], names[other]);
    let last = over_time.last().map_or(&[][..], |front| &front.trials);
    let mut curves = vec![dots(finished, last, other)];
    curves.extend(lines(run, finished, over_time, names.len(), other));
    Figure {
        id: id_of(&format!("front-{other}"), &run.run),
        title: if is_alone {
            title
        } else {
            format!("{title}: {}", run.run.name)
        },
        text: text(finished, last, names),
        x: Axis::spread(names[0]),
        y: Axis::spread(names[other]),
        marks: Marks::Curves(curves),
        numbers: numbers(run, last, names),
    }
}

/// The front after each part of the finished trials. For all fronts together, each trial is compared with the earlier
/// trials only once.
fn fronts<'a>(finished: &[&'a TrialRow]) -> Vec<Front<'a>> {
    let mut lengths: Vec<usize> = (1..=FRONTS)
        .map(|part| (finished.len() * part).div_ceil(FRONTS))
        .collect();
    lengths.dedup();
    let (mut sorted, mut found) = (Fronts::default(), Vec::new());
    for (place, trial) in finished.iter().enumerate() {
        sorted.insert(place as u32, &trial.losses.values());
        let length = place + 1;
        if lengths.contains(&length) {
            let best = sorted.trials().next().into_iter().flatten();
            let mut trials: Vec<&TrialRow> = best.map(|place| finished[place as usize]).collect();
            trials.sort_by(|a, b| of(a, 0).total_cmp(&of(b, 0)).then(a.trial.cmp(&b.trial)));
            found.push(Front { length, trials });
        }
    }
    found
}

/// A loss of a trial.
fn of(trial: &TrialRow, loss: usize) -> f64 {
    trial
        .losses
        .0
        .get(loss)
        .map_or(f64::NAN, |(_, value)| *value)
}

/// Dots for the trials that are not on the last front.
fn dots(finished: &[&TrialRow], last: &[&TrialRow], other: usize) -> Curve {
    let is_dominated = |trial: &&&TrialRow| !last.iter().any(|best| best.trial == trial.trial);
    let dominated = finished.iter().filter(is_dominated);
    let mut points: Vec<(f64, f64)> = dominated
        .take(MAX_DOTS)
        .map(|trial| (of(trial, 0), of(trial, other)))
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    Curve {
        name: "Other finished trials".to_owned(),
        colour: Colour::Muted,
        shape: Shape::Points,
        points,
        labels: Vec::new(),
    }
}

/// The fronts as curves. With more than two losses, the trials of a front are not joined, because the projection of a
/// front onto two of the losses is not a line.
fn lines(
    run: &Searched<'_>,
    finished: &[&TrialRow],
    over_time: &[Front<'_>],
    losses: usize,
    other: usize,
) -> Vec<Curve> {
    let curve = |(place, front): (usize, &Front<'_>)| {
        let end = finished[front.length - 1].end.unwrap_or(run.to);
        let point = |trial: &&TrialRow| (of(trial, 0), of(trial, other));
        Curve {
            name: format!(
                "After {}, {}",
                counted(front.length, "trial"),
                in_hours(end.seconds_since(run.from))
            ),
            // The last front has the accent colour.
            colour: Colour::Series(over_time.len() - 1 - place),
            shape: if losses == 2 {
                Shape::Stairs
            } else {
                Shape::Points
            },
            points: front.trials.iter().map(point).collect(),
            labels: front.trials.iter().map(|trial| label(trial)).collect(),
        }
    };
    over_time.iter().enumerate().map(curve).collect()
}

fn label(trial: &TrialRow) -> String {
    let losses = trial.losses.0.iter();
    let losses: Vec<String> = losses
        .map(|(name, value)| format!("{name} {}", loss(*value)))
        .collect();
    format!("trial {}, {}", trial.trial, losses.join(", "))
}

fn text(finished: &[&TrialRow], last: &[&TrialRow], names: &[&str]) -> String {
    let joined = match names {
        [_, _] => " Each line joins the trials of the front at one time.",
        _ => " Each colour marks the trials of the front at one time.",
    };
    format!(
        "Losses of the trials that have reached the last rung. A trial is on the front if none of the other trials is \
         at least as good in all losses ({}) and better in at least one.{joined} At the end, the front contains {} of \
         these {} trials.",
        names.join(", "),
        count(last.len() as u64),
        count(finished.len() as u64),
    )
}

fn numbers(run: &Searched<'_>, last: &[&TrialRow], names: &[&str]) -> Grid {
    let title = if last.len() <= MAX_ROWS {
        "Trials on the front at the end".to_owned()
    } else {
        format!("The first {MAX_ROWS} trials on the front at the end, by the first loss")
    };
    let heads = [Head::number("trial"), Head::text("task")].into_iter();
    let heads = heads.chain(names.iter().map(|name| Head::number(*name)));
    let heads = heads.chain([
        Head::number("after the first event"),
        Head::text("hyperparameters"),
    ]);
    let mut grid = Grid::new(title, heads);
    for trial in last.iter().take(MAX_ROWS) {
        let after = trial.end.map(|end| in_hours(end.seconds_since(run.from)));
        let losses = trial.losses.0.iter().map(|(_, value)| loss(*value));
        let row = [count(trial.trial), short(&trial.task)].into_iter();
        grid.row(
            row.chain(losses)
                .chain([after.unwrap_or_default(), trial.parameters.clone()]),
        );
    }
    grid
}
