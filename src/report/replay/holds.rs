//! For how long tasks held nodes.

use super::{Named, id_of};
use crate::report::figure::{Axis, Colour, Marks, Part};
use crate::report::numbers::{count, hours, percent};
use crate::report::{Figure, Grid, Head};

/// Seconds below which a time counts as so long; the last has no bound.
const BOUNDS: [(f64, &str); 9] = [
    (60.0, "< 1 min"),
    (300.0, "1–5 min"),
    (600.0, "5–10 min"),
    (1_800.0, "10–30 min"),
    (3_600.0, "30–60 min"),
    (7_200.0, "1–2 h"),
    (21_600.0, "2–6 h"),
    (86_400.0, "6–24 h"),
    (f64::INFINITY, "≥ 1 d"),
];

/// How many times of each length, and how many seconds they have together.
#[derive(Default)]
struct Lengths {
    times: [u64; BOUNDS.len()],
    seconds: [f64; BOUNDS.len()],
}

pub(super) fn figure(run: &Named<'_>) -> Figure {
    let lengths = Lengths::of(run);
    let times = lengths.times.map(|times| times as f64);
    let parts = [
        part("Times", Colour::Muted, &times),
        part("Node-time", Colour::Series(0), &lengths.seconds),
    ];
    let short: f64 = parts[0].values.iter().take(3).sum();
    let short_time: f64 = parts[1].values.iter().take(3).sum();
    Figure {
        id: id_of("holds", run),
        title: "How long tasks held a node".to_owned(),
        text: format!(
            "From getting a node to giving it back or losing it. {} of the {} times were under \
             10 minutes, with {} of the node-time.",
            percent(short / 100.0),
            count(lengths.times.iter().sum()),
            percent(short_time / 100.0),
        ),
        x: Axis::names("", BOUNDS.map(|bound| bound.1.to_owned()).to_vec()),
        y: Axis::linear("% of all"),
        numbers: lengths.numbers(&parts),
        marks: Marks::Groups(parts.to_vec()),
    }
}

/// A bar each of its share of their sum.
fn part(name: &str, colour: Colour, amounts: &[f64]) -> Part {
    let sum: f64 = amounts.iter().sum();
    let share = |amount: &f64| if sum > 0.0 { 100.0 * amount / sum } else { 0.0 };
    let values: Vec<f64> = amounts.iter().map(share).collect();
    Part {
        name: name.to_owned(),
        colour,
        labels: values.iter().map(|value| percent(value / 100.0)).collect(),
        values,
    }
}

impl Lengths {
    fn of(run: &Named<'_>) -> Self {
        let mut lengths = Lengths::default();
        for hold in &run.result.holds {
            let seconds = hold.to.seconds_since(hold.from);
            let bound = BOUNDS.iter().position(|bound| seconds < bound.0);
            let place = bound.unwrap_or(BOUNDS.len() - 1);
            lengths.times[place] += 1;
            lengths.seconds[place] += seconds;
        }
        lengths
    }

    fn numbers(&self, parts: &[Part]) -> Grid {
        let heads = [
            Head::text("length"),
            Head::number("times"),
            Head::number("of all times"),
            Head::number("node-hours"),
            Head::number("of all node-time"),
        ];
        let mut grid = Grid::new("Times that tasks held a node, by length", heads);
        for (place, (_, name)) in BOUNDS.iter().enumerate() {
            grid.row([
                (*name).to_owned(),
                count(self.times[place]),
                parts[0].labels[place].clone(),
                hours(self.seconds[place]),
                parts[1].labels[place].clone(),
            ]);
        }
        grid
    }
}
