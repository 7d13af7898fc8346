//! A metric by two settings as a heat map, or by one as bars.

use std::collections::BTreeMap;

use super::scale::{Scale, capital};
use super::trials::{Metric, Trials, is_repetition, shown};
use crate::figure::{Axis, Colour, Heat, Marks, Part};
use crate::names::slug;
use crate::{Figure, Grid, Head};
use gleaner_core::results::Direction;

/// A metric by two settings, which are given by their indices. The value of a trial is the mean
/// over its repetitions, and a cell shows the best value over the other settings.
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
    let labels: Vec<Vec<String>> = values.iter().map(|row| labels(scale, row)).collect();
    let scaled = |row: &Vec<Option<f64>>| {
        let cells = row.iter().map(|value| value.map(|v| scale.scaled(v)));
        cells.collect()
    };
    Figure {
        id: format!("heat-{}", slug(name)),
        title: format!("{} by {across} and {down}", capital(&scale.title)),
        text: text(trials, &[x, y], metric, &best),
        numbers: table(&scale.title, down, &columns, &rows, &labels),
        x: Axis::names(across, names(&columns)),
        y: Axis::names(down, names(&rows)),
        marks: Marks::Heat(Heat {
            title: scale.title.clone(),
            values: values.iter().map(scaled).collect(),
            labels,
            log: false,
        }),
    }
}

/// As [`by_two`], for a single setting, with bars.
pub(super) fn by_one(trials: &Trials, name: &str, x: usize, metric: usize) -> Figure {
    let across = trials.settings[x];
    let columns = trials.values(x);
    let best = best(trials, &[x], metric);
    let scale = &trials.metrics[metric].scale;
    let values: Vec<Option<f64>> = columns
        .iter()
        .map(|column| best.get(&vec![*column]).copied())
        .collect();
    let labels = labels(scale, &values);
    let heads = [Head::text(across), Head::number(&scale.title)];
    let mut numbers = Grid::new(title_of(&scale.title, columns.len()), heads);
    for (column, label) in columns.iter().zip(&labels).take(LISTED) {
        numbers.row([shown(column), label.clone()]);
    }
    let length = |value: &Option<f64>| scale.scaled(value.unwrap_or(0.0));
    Figure {
        id: format!("heat-{}", slug(name)),
        title: format!("{} by {across}", capital(&scale.title)),
        text: text(trials, &[x], metric, &best),
        numbers,
        x: Axis::names(across, names(&columns)),
        y: Axis::linear(&scale.title),
        marks: Marks::Groups(vec![Part {
            name: scale.title.clone(),
            colour: Colour::Series(0),
            values: values.iter().map(length).collect(),
            labels,
        }]),
    }
}

fn names(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| shown(value)).collect()
}

fn labels(scale: &Scale, values: &[Option<f64>]) -> Vec<String> {
    let label = |value: &Option<f64>| value.map_or("–".to_owned(), |value| scale.tell(value));
    values.iter().map(label).collect()
}

/// Values of some settings, as texts.
type Key<'a> = Vec<&'a str>;
/// A metric by the values of settings.
type Values<'a> = BTreeMap<Key<'a>, f64>;

/// The metric by the values of `axes`: means over repetitions, and of these means the best.
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

/// Indices of the settings besides `axes` whose names `keep` accepts.
fn others(
    trials: &Trials,
    axes: &[usize],
    keep: impl Fn(&str) -> bool,
) -> impl Iterator<Item = usize> {
    let places = (0..trials.settings.len()).filter(|place| !axes.contains(place));
    places.filter(move |&place| keep(trials.settings[place]))
}

/// The text of the figure: what a cell or bar is, and which is best.
fn text(trials: &Trials, axes: &[usize], metric: usize, values: &Values<'_>) -> String {
    let names = |repeated: bool| {
        let others = others(trials, axes, |name| is_repetition(name) == repeated);
        let mut names: Vec<&str> = others.map(|place| trials.settings[place]).collect();
        if repeated && trials.seeds > 1 {
            names.push("seeds");
        }
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
    format!(
        "{of}{which} is better.{}",
        leading(trials, axes, metric, values)
    )
}

/// Says at which settings the best value is, or how many cells reach it.
fn leading(trials: &Trials, axes: &[usize], metric: &Metric, values: &Values<'_>) -> String {
    let better = |best, next| if metric.beats(next, best) { next } else { best };
    let Some(best) = values.values().copied().reduce(better) else {
        return String::new();
    };
    let told = metric.scale.tell(best);
    // Cells whose text is the same as that of the best.
    let mut same = values
        .iter()
        .filter(|(_, v)| metric.scale.tell(**v) == told);
    match (same.next(), same.count()) {
        (Some((cell, _)), 0) => {
            let at = axes.iter().zip(cell);
            let at = at.map(|(&axis, value)| format!("{} {}", trials.settings[axis], shown(value)));
            let at = at.collect::<Vec<_>>().join(" and ");
            format!(" The best is {told}, with {at}.")
        }
        (_, others) => format!(
            " {} of {} reach the best, {told}.",
            others + 1,
            values.len()
        ),
    }
}

/// Maximum number of values of a setting in a table.
const LISTED: usize = 200;

fn table(title: &str, down: &str, columns: &[&str], rows: &[&str], cells: &[Vec<String>]) -> Grid {
    let heads = columns.iter().map(|column| Head::number(shown(column)));
    let heads = std::iter::once(Head::text(down)).chain(heads);
    let title = title_of(title, columns.len().max(rows.len()));
    let mut grid = Grid::new(title, heads.take(1 + LISTED));
    for (row, cells) in rows.iter().zip(cells).take(LISTED) {
        let cells = cells.iter().take(LISTED).cloned();
        grid.row(std::iter::once(shown(row)).chain(cells));
    }
    grid
}

/// A table's title, which says whether values are left out.
fn title_of(title: &str, values: usize) -> String {
    match values {
        0..=LISTED => title.to_owned(),
        _ => format!("{title}, the first {LISTED} values"),
    }
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
            [[Some(4.0), Some(7.0)], [Some(6.0), Some(5.0)]]
        );
        assert_eq!(figure.id, "heat-swept");
        assert_eq!(figure.numbers.rows[0], ["a", "4.000", "7.000"]);
        assert!(
            figure
                .text
                .contains("Means over seeds. Higher is better. The best is 7.000, with t_fwd 120")
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
        assert!(figure.text.contains("The best is 1.00, with t_fwd 30"));
    }
}
