//! Plots two metrics against each other, with the Pareto front. A trial is on the front if no other trial is better
//! in one metric and at least as good in the other.

use super::tables::LISTED;
use super::trials::{Metric, Trials, shown};
use crate::figure::{Axis, Colour, Curve, Marks, SERIES, Shape};
use crate::names::slug;
use crate::numbers::count;
use crate::{Figure, Grid, Head};
use gleaner_domain::results::Direction;
use gleaner_domain::words::counted;
use gleaner_runs::sweep::scale::capital;

/// Maximum number of trials that are drawn as points. If there are more trials, points hidden by other points are left
/// out.
const DRAWN: usize = 3_000;
/// Maximum number of trials on the front whose intervals are drawn.
const WHISKERS: usize = 60;

/// All trials by the metrics with indices `x` and `y`, and their Pareto front.
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
    let points: Vec<(f64, f64)> = all.iter().filter_map(|&t| point(trials, t, x, y)).collect();
    let cloud = crate::thin::cloud(&points, DRAWN);
    let cloud: Vec<usize> = cloud.into_iter().map(|place| all[place]).collect();
    let left_out = all.len() - cloud.len();
    let best = front.get(..WHISKERS).unwrap_or(&front);
    let mut curves = vec![
        curve(trials, "Settings", &cloud, (x, y)),
        Curve {
            colour: Colour::Series(0),
            shape: Shape::Dotted,
            ..curve(trials, "Pareto front", &front, (x, y))
        },
    ];
    curves.extend(whiskers(trials, best, (x, y)));
    Figure {
        id: format!("pareto-{}", slug(name)),
        title: format!(
            "{} against {}",
            capital(&up.scale.title),
            across.scale.title
        ),
        text: text(trials, (across, up), front.len(), all.len()) + &hidden(left_out),
        numbers: tell(trials, &front, (x, y)),
        x: Axis::spread(&across.scale.title),
        y: Axis::spread(&up.scale.title),
        marks: Marks::Curves(curves),
    }
}

/// The 95 % intervals of both metrics for the trials at `places`; `None` if no trial has an interval.
fn whiskers(trials: &Trials, places: &[usize], (x, y): (usize, usize)) -> Option<Curve> {
    let ends = |trial: usize, metric: usize| {
        let spread = trials.trials[trial].figures[metric]?;
        let scale = &trials.metrics[metric].scale;
        Some([spread.low()?, spread.mean, spread.high()?].map(|end| scale.scaled(end)))
    };
    let cross = |&trial: &usize| {
        let ([left, along, right], [low, up, high]) = (ends(trial, x)?, ends(trial, y)?);
        Some([(left, up), (right, up), (along, low), (along, high)])
    };
    let points: Vec<(f64, f64)> = places.iter().filter_map(cross).flatten().collect();
    (!points.is_empty()).then_some(Curve {
        name: "95 % intervals".to_owned(),
        colour: Colour::Series(0),
        shape: Shape::Whiskers,
        points,
        labels: Vec::new(),
    })
}

/// A sentence with the number of points that are left out; empty if all points are drawn.
fn hidden(points: usize) -> String {
    match points {
        0 => String::new(),
        points => format!(
            " {} points hidden by others are left out.",
            count(points as u64)
        ),
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
        // The last series is grey. The muted colour would be too pale for points.
        colour: Colour::Series(SERIES - 1),
        shape: Shape::Points,
        points: places.iter().filter_map(scaled).collect(),
        labels: places.iter().map(|&trial| label(trials, trial)).collect(),
    }
}

/// A trial's settings, and its number of repetitions if trials have several.
fn label(trials: &Trials, trial: usize) -> String {
    let settings = trials.tell(trial);
    if trials.are_means() {
        let repetitions = counted(trials.trials[trial].repetitions, trials.over.noun());
        format!("{settings}, {repetitions}")
    } else {
        settings
    }
}

fn text(trials: &Trials, (across, up): (&Metric, &Metric), front: usize, all: usize) -> String {
    let better = match (across.better, up.better) {
        (Direction::Min, Direction::Max) => "Further up and left is better",
        (Direction::Min, Direction::Min) => "Further down and left is better",
        (Direction::Max, Direction::Max) => "Further up and right is better",
        (Direction::Max, Direction::Min) => "Further down and right is better",
    };
    let beaten = match front {
        1 => format!(
            "The Pareto front is a single point: none of the {all} points is better in either metric."
        ),
        front => format!(
            "The line joins the {} of {} points that form the Pareto front: for each of these points, no other point \
             is better in one metric and at least as good in the other.",
            count(front as u64),
            count(all as u64)
        ),
    };
    let what = if !trials.are_means() {
        "A point for each run".to_owned()
    } else {
        let intervals = match trials.over.why_no_interval(trials.repetitions) {
            None => "Points on the front have 95 % intervals".to_owned(),
            Some(why) => format!("Points have {why}"),
        };
        let nouns = trials.over.nouns();
        format!(
            "A point for each combination of settings, at its means over the {nouns}. {intervals}"
        )
    };
    format!("{what}. {better}. {beaten}")
}

fn point(trials: &Trials, trial: usize, x: usize, y: usize) -> Option<(f64, f64)> {
    let trial = &trials.trials[trial];
    trial.mean(x).zip(trial.mean(y))
}

/// The trials on the Pareto front, ordered by x.
fn front(trials: &Trials, x: usize, y: usize) -> Vec<usize> {
    let (along, up) = (&trials.metrics[x], &trials.metrics[y]);
    let mut order: Vec<(usize, (f64, f64))> = (0..trials.trials.len())
        .filter_map(|trial| Some((trial, point(trials, trial, x, y)?)))
        .collect();
    // The trials are ordered by x, then by y, best first. A trial is on the front if its y is better than every y
    // before it.
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
        0..=LISTED => "Settings on the Pareto front".to_owned(),
        all => format!("The first {LISTED} of {all} settings on the Pareto front"),
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

    // Small fixed example: a sweep of two windows and two solvers.
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
        assert_eq!(curves[1].labels[1], "t_fwd 120, solver b, 1 seed");
        assert_eq!(curves[0].labels[2], "t_fwd 30, solver b, 1 seed");
        assert_eq!(figure.numbers.rows[0], ["1.00", "4.000", "30", "a"]);
        assert!(figure.text.contains("up and left") && figure.text.contains("4 of 4"));
    }

    #[test]
    fn pictures_of_trials_can_be_drawn() {
        let trials = trials();
        let svg = crate::image::svg(&figure(&trials, "swept", places(&trials))).unwrap();
        assert!(svg.contains("<text") && svg.contains("<circle"));
    }
}
