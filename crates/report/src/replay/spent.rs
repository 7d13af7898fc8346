//! Where node-time and work went.

use super::Named;
use crate::figure::{Axis, Colour, Marks, Part};
use crate::numbers::{hours, large, percent};
use crate::{Figure, Grid, Head};
use gleaner_core::results::replay::Summary;

/// A part of the bars: its name, its colour, and its shares of node-time and of work.
type Share = (&'static str, Colour, fn(&Summary) -> [f64; 2]);

const SHARES: [Share; 5] = [
    ("Used", Colour::Series(0), |s| [used(s), 0.0]),
    ("Unused", Colour::Muted, |s| [1.0 - used(s), 0.0]),
    ("Useful", Colour::Series(2), |s| {
        [0.0, of_gross(s, s.total_work)]
    }),
    ("Lost to rescaling", Colour::Series(4), |s| {
        [0.0, of_gross(s, s.rescale_loss)]
    }),
    ("Lost to preemption", Colour::Series(1), |s| {
        [0.0, of_gross(s, s.preemption_loss)]
    }),
];

fn used(s: &Summary) -> f64 {
    match s.idle_node_seconds > 0.0 {
        true => (s.used_node_seconds / s.idle_node_seconds).clamp(0.0, 1.0),
        false => 0.0,
    }
}

fn of_gross(s: &Summary, work: f64) -> f64 {
    let gross = s.total_work + s.rescale_loss + s.preemption_loss;
    if gross > 0.0 { work / gross } else { 0.0 }
}

/// The bars of each run.
const BARS: [&str; 2] = ["Idle node-time", "Work of used nodes"];

pub(super) fn figure(runs: &[Named<'_>]) -> Figure {
    Figure {
        id: "spent".to_owned(),
        title: "Where node-time and work went".to_owned(),
        text: "Of the idle node-time, what training held and what it left; of the work that the \
               nodes it held could do, what was kept and what rescaling and preemption cost."
            .to_owned(),
        x: Axis::linear("%"),
        y: Axis::names("", names(runs)),
        marks: Marks::Bars(SHARES.iter().map(|share| part(runs, share)).collect()),
        numbers: numbers(runs),
    }
}

fn names(runs: &[Named<'_>]) -> Vec<String> {
    let name = |bar: &str, run: &Named<'_>| match runs {
        [_] => bar.to_owned(),
        _ => format!("{}: {}", run.name, bar.to_lowercase()),
    };
    let of_bar = |bar| runs.iter().map(move |run| name(bar, run));
    BARS.into_iter().flat_map(of_bar).collect()
}

/// One part of all bars, in the order of [`names`].
fn part(runs: &[Named<'_>], (name, colour, of): &Share) -> Part {
    let of_bar = |bar: usize| {
        runs.iter()
            .map(move |run| 100.0 * of(&run.result.summary)[bar])
    };
    let values: Vec<f64> = (0..BARS.len()).flat_map(of_bar).collect();
    let label = |value: &f64| match *value {
        0.0 => String::new(),
        value => percent(value / 100.0),
    };
    Part {
        name: (*name).to_owned(),
        colour: *colour,
        labels: values.iter().map(label).collect(),
        values,
    }
}

fn numbers(runs: &[Named<'_>]) -> Grid {
    let heads = [
        "idle node-hours",
        "used",
        "unused",
        "work done",
        "lost to rescaling",
        "lost to preemption",
    ];
    let heads = std::iter::once(Head::text("run")).chain(heads.map(Head::number));
    let mut grid = Grid::new("Node-hours and work", heads);
    for run in runs {
        let s = &run.result.summary;
        grid.row([
            run.name.to_owned(),
            hours(s.idle_node_seconds),
            hours(s.used_node_seconds),
            hours(s.idle_node_seconds - s.used_node_seconds),
            large(s.total_work),
            large(s.rescale_loss),
            large(s.preemption_loss),
        ]);
    }
    grid
}
