//! Where node-time and work went.

use super::Named;
use crate::ingest::runs::ReplaySummary;
use crate::report::figure::{Axis, Colour, Marks, Part};
use crate::report::numbers::{hours, large, percent};
use crate::report::{Figure, Grid, Head};

/// What bars are made of: a name, a colour, and shares of node-time and of work.
type Share = (&'static str, Colour, fn(&ReplaySummary) -> [f64; 2]);

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

fn used(s: &ReplaySummary) -> f64 {
    match s.idle_node_seconds > 0.0 {
        true => (s.used_node_seconds / s.idle_node_seconds).clamp(0.0, 1.0),
        false => 0.0,
    }
}

fn of_gross(s: &ReplaySummary, work: f64) -> f64 {
    let gross = s.total_work + s.rescale_loss + s.preemption_loss;
    if gross > 0.0 { work / gross } else { 0.0 }
}

pub(super) fn figure(runs: &[Named<'_>]) -> Figure {
    let prefix = |run: &Named<'_>, what: &str| match runs {
        [_] => what.to_owned(),
        _ => format!("{}: {}", run.name, what.to_lowercase()),
    };
    let bars = ["Idle node-time", "Work of used nodes"];
    let names = bars
        .iter()
        .enumerate()
        .flat_map(|(_, bar)| runs.iter().map(|run| prefix(run, bar)));
    let parts = SHARES.map(|(name, colour, of)| {
        let values = (0..bars.len()).flat_map(|bar| {
            runs.iter()
                .map(move |run| 100.0 * of(&run.result.summary)[bar])
        });
        let values: Vec<f64> = values.collect();
        let label = |value: &f64| match *value {
            0.0 => String::new(),
            value => percent(value / 100.0),
        };
        Part {
            name: name.to_owned(),
            colour,
            labels: values.iter().map(label).collect(),
            values,
        }
    });
    Figure {
        id: "spent".to_owned(),
        title: "Where node-time and work went".to_owned(),
        text: "Of the idle node-time, what training held and what it left; of the work that the \
               nodes it held could do, what was kept and what rescaling and preemption cost."
            .to_owned(),
        x: Axis::linear("%"),
        y: Axis::names("", names.collect()),
        marks: Marks::Bars(parts.to_vec()),
        numbers: numbers(runs),
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
