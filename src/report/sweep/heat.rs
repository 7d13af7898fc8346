//! A figure by two settings, or by one.

use std::collections::BTreeMap;

use super::scale::capital;
use super::trials::{Trials, is_repetition, shown};
use crate::report::figure::{Axis, Colour, Heat, Marks, Part};
use crate::report::names::slug;
use crate::report::{Figure, Grid, Head};
use crate::sweep::Direction;

/// A metric by two settings, given by their places: means over what runs were repeated
/// with, and of other settings the best.
pub(super) fn by_two(trials: &Trials, name: &str, (x, y): (usize, usize), metric: usize) -> Figure {
    let (across, down) = (trials.settings[x], trials.settings[y]);
    let (columns, rows) = (trials.values(x), trials.values(y));
    let best = best(trials, &[x, y], metric);
    let cell = |row: &str, column: &str| best.get(&vec![column, row]).copied();
    let values: Vec<Vec<Option<f64>>> = rows
        .iter()
        .map(|row| columns.iter().map(|column| cell(row, column)).collect())
        .collect();
    let scale = &trials.metrics[metric].scale;
    let label = |value: &Option<f64>| value.map_or("–".to_owned(), |value| scale.tell(value));
    let labels: Vec<Vec<String>> = values
        .iter()
        .map(|row| row.iter().map(label).collect())
        .collect();
    let scaled = |row: &Vec<Option<f64>>| {
        let cells = row.iter().map(|value| value.map(|v| scale.scaled(v)));
        cells.collect()
    };
    Figure {
        id: format!("heat-{}", slug(name)),
        title: format!("{} by {across} and {down}", capital(&scale.title)),
        text: text(trials, &[x, y], metric, &best),
        numbers: table(&scale.title, down, &columns, &rows, &labels),
        x: Axis::names(across, columns.iter().map(|value| shown(value)).collect()),
        y: Axis::names(down, rows.iter().map(|value| shown(value)).collect()),
        marks: Marks::Heat(Heat {
            title: scale.title.clone(),
            values: values.iter().map(scaled).collect(),
            labels,
            log: false,
        }),
    }
}

/// As [`by_two`], by the one setting that there is.
pub(super) fn by_one(trials: &Trials, name: &str, x: usize, metric: usize) -> Figure {
    let across = trials.settings[x];
    let columns = trials.values(x);
    let best = best(trials, &[x], metric);
    let scale = &trials.metrics[metric].scale;
    let values: Vec<Option<f64>> = columns
        .iter()
        .map(|column| best.get(&vec![*column]).copied())
        .collect();
    let labels: Vec<String> = values
        .iter()
        .map(|value| value.map_or("–".to_owned(), |value| scale.tell(value)))
        .collect();
    let heads = [Head::text(across), Head::number(&scale.title)];
    let mut numbers = Grid::new(&scale.title, heads);
    for (column, label) in columns.iter().zip(&labels) {
        numbers.row([shown(column), label.clone()]);
    }
    let length = |value: &Option<f64>| scale.scaled(value.unwrap_or(0.0));
    Figure {
        id: format!("heat-{}", slug(name)),
        title: format!("{} by {across}", capital(&scale.title)),
        text: text(trials, &[x], metric, &best),
        numbers,
        x: Axis::names(across, columns.iter().map(|value| shown(value)).collect()),
        y: Axis::linear(&scale.title),
        marks: Marks::Groups(vec![Part {
            name: scale.title.clone(),
            colour: Colour::Series(0),
            values: values.iter().map(length).collect(),
            labels,
        }]),
    }
}

/// Values of some settings.
type Key<'a> = Vec<&'a str>;
/// What a metric comes to by values of settings.
type Values<'a> = BTreeMap<Key<'a>, f64>;

/// By the values of `axes`: of the means over repetitions, the best.
fn best<'a>(trials: &'a Trials, axes: &[usize], metric: usize) -> Values<'a> {
    let others: Vec<usize> = others(trials, axes, |name| !is_repetition(name)).collect();
    let mut sums: BTreeMap<(Key<'_>, Key<'_>), (f64, f64)> = BTreeMap::new();
    for trial in &trials.trials {
        let Some(value) = trial.metrics[metric] else {
            continue;
        };
        let of = |places: &[usize]| places.iter().map(|&s| trial.settings[s].as_str()).collect();
        let sum = sums.entry((of(axes), of(&others))).or_default();
        *sum = (sum.0 + value, sum.1 + 1.0);
    }
    let mut best = Values::new();
    for ((cell, _), (sum, count)) in sums {
        let mean = sum / count;
        let value = best.entry(cell).or_insert(mean);
        if trials.metrics[metric].beats(mean, *value) {
            *value = mean;
        }
    }
    best
}

/// Places of the settings besides `axes` whose names are kept.
fn others(
    trials: &Trials,
    axes: &[usize],
    keep: impl Fn(&str) -> bool,
) -> impl Iterator<Item = usize> {
    let places = (0..trials.settings.len()).filter(|place| !axes.contains(place));
    places.filter(move |&place| keep(trials.settings[place]))
}

/// What a cell or bar is, and which is best.
fn text(trials: &Trials, axes: &[usize], metric: usize, values: &Values<'_>) -> String {
    let names = |repeated: bool| {
        let others = others(trials, axes, |name| is_repetition(name) == repeated);
        let names: Vec<&str> = others.map(|place| trials.settings[place]).collect();
        names.join(" and ")
    };
    let of = match (names(true).as_str(), names(false).as_str()) {
        ("", "") => String::new(),
        (means, "") => format!("Means over {means}. "),
        ("", best) => format!("The best over {best}. "),
        (means, best) => format!("Means over {means}, and of these the best over {best}. "),
    };
    let metric = &trials.metrics[metric];
    let which = match metric.better {
        Direction::Max => "Higher",
        Direction::Min => "Lower",
    };
    let best = values
        .iter()
        .reduce(|best, next| match metric.beats(*next.1, *best.1) {
            true => next,
            false => best,
        });
    let best = best.map_or(String::new(), |(cell, value)| {
        let at = axes.iter().zip(cell);
        let at = at.map(|(&axis, value)| format!("{} {}", trials.settings[axis], shown(value)));
        let at = at.collect::<Vec<_>>().join(" and ");
        format!(" The best is {}, with {at}.", metric.scale.tell(*value))
    });
    format!("{of}{which} is better.{best}")
}

fn table(title: &str, down: &str, columns: &[&str], rows: &[&str], cells: &[Vec<String>]) -> Grid {
    let heads = columns.iter().map(|column| Head::number(shown(column)));
    let mut grid = Grid::new(title, std::iter::once(Head::text(down)).chain(heads));
    for (row, cells) in rows.iter().zip(cells) {
        grid.row(std::iter::once(shown(row)).chain(cells.iter().cloned()));
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::super::trials::tests::trials;
    use super::*;

    // Small fixed examples.
    #[test]
    fn cells_hold_means_over_repetitions() {
        let trials = trials();
        let figure = by_two(
            &trials,
            "Swept",
            (0, 1),
            trials.metric("total_work").unwrap(),
        );
        let Marks::Heat(heat) = &figure.marks else {
            panic!("no heat map");
        };
        assert_eq!(
            heat.values,
            [[Some(4.0), Some(6.0)], [Some(6.0), Some(5.0)]]
        );
        assert_eq!(figure.id, "heat-swept");
        assert_eq!(figure.numbers.rows[0], ["a", "4.000", "6.000"]);
        assert!(
            figure
                .text
                .contains("Means over seed. Higher is better. The best is 6.000, with t_fwd")
        );
    }

    #[test]
    fn bars_hold_the_best_and_lower_may_be_better() {
        let trials = trials();
        let lost = trials.metric("rescale_loss").unwrap();
        let figure = by_one(&trials, "swept", 0, lost);
        let Marks::Groups(parts) = &figure.marks else {
            panic!("no bars");
        };
        assert_eq!(parts[0].values, [1.0, 2.0]);
        assert!(figure.text.contains("best over solver") && figure.text.contains("Lower"));
    }
}
