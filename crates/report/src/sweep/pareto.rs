//! Two metrics against each other, and the Pareto front: the trials that no other beats in both.

use super::scale::capital;
use super::tables::LISTED;
use super::trials::{Metric, Trials, shown};
use crate::figure::{Axis, Colour, Curve, Marks, SERIES, Shape};
use crate::names::slug;
use crate::{Figure, Grid, Head};
use gleaner_core::results::Direction;

/// Maximum number of trials whose points show their settings as hover text.
const TOLD: usize = 4_000;

/// All trials by two metrics, which are given by their indices, and their Pareto front.
pub(super) fn figure(trials: &Trials, name: &str, (x, y): (usize, usize)) -> Figure {
    let (across, up) = (&trials.metrics[x], &trials.metrics[y]);
    let front = front(trials, x, y);
    let mut all: Vec<usize> = (0..trials.trials.len())
        .filter(|&trial| point(trials, trial, x, y).is_some())
        .collect();
    all.sort_by(|&a, &b| {
        let key = |trial| point(trials, trial, x, y).unwrap_or_default();
        let (a, b) = (key(a), key(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    Figure {
        id: format!("pareto-{}", slug(name)),
        title: format!(
            "{} against {}",
            capital(&up.scale.title),
            across.scale.title
        ),
        text: text(trials.seeds, (across, up), front.len(), all.len()),
        numbers: tell(trials, &front, (x, y)),
        x: Axis::spread(&across.scale.title),
        y: Axis::spread(&up.scale.title),
        marks: Marks::Curves(vec![
            curve(trials, "Settings", &all, (x, y)),
            Curve {
                colour: Colour::Series(0),
                shape: Shape::Dotted,
                ..curve(trials, "Not beaten", &front, (x, y))
            },
        ]),
    }
}

fn curve(trials: &Trials, name: &str, places: &[usize], (x, y): (usize, usize)) -> Curve {
    let scaled = |trial: &usize| {
        let (along, up) = point(trials, *trial, x, y)?;
        let (across, height) = (&trials.metrics[x].scale, &trials.metrics[y].scale);
        Some((across.scaled(along), height.scaled(up)))
    };
    Curve {
        name: name.to_owned(),
        // The grey series: the muted colour is too pale for points.
        colour: Colour::Series(SERIES - 1),
        shape: Shape::Points,
        points: places.iter().filter_map(scaled).collect(),
        labels: match places.len() {
            0..=TOLD => places.iter().map(|&trial| trials.tell(trial)).collect(),
            _ => Vec::new(),
        },
    }
}

fn text(seeds: usize, (across, up): (&Metric, &Metric), front: usize, all: usize) -> String {
    let better = match (across.better, up.better) {
        (Direction::Min, Direction::Max) => "Further up and left is better",
        (Direction::Min, Direction::Min) => "Further down and left is better",
        (Direction::Max, Direction::Max) => "Further up and right is better",
        (Direction::Max, Direction::Min) => "Further down and right is better",
    };
    let beaten = match front {
        1 => format!("One of the {all} beats all others in both."),
        front => format!("The line joins the {front} of {all} that no other beats in both."),
    };
    let what = match seeds {
        0 | 1 => "A point for each run",
        _ => "A point for the means of each setting over its seeds",
    };
    format!("{what}. {better}. {beaten}")
}

fn point(trials: &Trials, trial: usize, x: usize, y: usize) -> Option<(f64, f64)> {
    let metrics = &trials.trials[trial].metrics;
    metrics[x].zip(metrics[y])
}

/// Trials that no other beats in both metrics, ordered by x.
fn front(trials: &Trials, x: usize, y: usize) -> Vec<usize> {
    let (along, up) = (&trials.metrics[x], &trials.metrics[y]);
    let mut order: Vec<(usize, (f64, f64))> = (0..trials.trials.len())
        .filter_map(|trial| Some((trial, point(trials, trial, x, y)?)))
        .collect();
    // Ordered by x, then by y, each from the best. A trial is beaten unless its y is better than
    // every y before it.
    let first = |metric: &Metric, a: f64, b: f64| match metric.better {
        Direction::Min => a.total_cmp(&b),
        Direction::Max => b.total_cmp(&a),
    };
    order.sort_by(|(_, a), (_, b)| first(along, a.0, b.0).then(first(up, a.1, b.1)));
    let mut best = None;
    order.retain(|(_, (_, value))| {
        let better = best.is_none_or(|best| up.beats(*value, best));
        if better {
            best = Some(*value);
        }
        better
    });
    order.sort_by(|(_, a), (_, b)| a.0.total_cmp(&b.0));
    order.into_iter().map(|(trial, _)| trial).collect()
}

fn tell(trials: &Trials, front: &[usize], (x, y): (usize, usize)) -> Grid {
    let metrics = [x, y].map(|metric| &trials.metrics[metric].scale);
    let heads = metrics.map(|scale| Head::number(&scale.title)).into_iter();
    let settings = trials.settings.iter().map(|name| Head::text(*name));
    let title = match front.len() {
        0..=LISTED => "Settings that no other beats in both".to_owned(),
        all => format!("The first {LISTED} of {all} settings that no other beats in both"),
    };
    let mut grid = Grid::new(title, heads.chain(settings));
    for &trial in front.iter().take(LISTED) {
        let cells = [x, y]
            .map(|metric| trials.figure(trial, metric))
            .into_iter();
        let settings = trials.trials[trial].settings.iter();
        grid.row(cells.chain(settings.map(|value| shown(value))));
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::super::trials::tests::trials;
    use super::*;

    fn places(trials: &Trials) -> (usize, usize) {
        let place = |name| trials.metric(name).unwrap();
        (place("work_lost"), place("total_work"))
    }

    // Small fixed examples.
    #[test]
    fn no_setting_dominates_the_pareto_front() {
        let trials = trials();
        let figure = figure(&trials, "swept", places(&trials));
        let Marks::Curves(curves) = figure.marks else {
            panic!("no curves");
        };
        assert_eq!(curves[0].points.len(), 4);
        let expected = [(1.0, 4.0), (2.0, 5.0), (4.0, 6.0), (6.0, 7.0)];
        assert_eq!(curves[1].points, expected);
        assert_eq!(curves[1].labels[1], "t_fwd 120, solver b");
        assert_eq!(figure.numbers.rows[0], ["1.00", "4.000", "30", "a"]);
        assert!(figure.text.contains("up and left") && figure.text.contains("4 of 4"));
    }

    #[test]
    fn pictures_of_trials_can_be_drawn() {
        let trials = trials();
        let svg = crate::still::svg(&figure(&trials, "swept", places(&trials))).unwrap();
        assert!(svg.contains("<text") && svg.contains("<circle"));
    }
}
