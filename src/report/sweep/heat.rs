//! A figure by two settings, or by one.

use super::trials::{Trials, shown};
use crate::report::figure::{Axis, Colour, Heat, Marks, Part};
use crate::report::names::slug;
use crate::report::{Figure, Grid, Head};
use crate::sweep::Direction;

/// The best trials that share values of settings: a row for each value of the second, a
/// cell for each of the first; `None` where no trial has both.
type Cells = Vec<Vec<Option<usize>>>;

/// A metric by two settings, given by their places: of trials that differ in other
/// settings alone, the best.
pub(super) fn by_two(trials: &Trials, name: &str, (x, y): (usize, usize), metric: usize) -> Figure {
    let (across, down) = (trials.settings[x], trials.settings[y]);
    let (columns, rows) = (trials.values(x), trials.values(y));
    let best = best(trials, (x, &columns), Some((y, &rows)), metric);
    let scale = &trials.metrics[metric].scale;
    let value =
        |trial: &Option<usize>| trial.and_then(|trial| trials.trials[trial].metrics[metric]);
    let each = |row: &Vec<Option<usize>>| {
        row.iter()
            .map(|t| value(t).map(|v| scale.scaled(v)))
            .collect()
    };
    let label = |trial: &Option<usize>| value(trial).map_or("–".to_owned(), |v| scale.tell(v));
    let labels: Vec<Vec<String>> = best
        .iter()
        .map(|row| row.iter().map(label).collect())
        .collect();
    Figure {
        id: format!("heat-{}", slug(name)),
        title: format!("{} by {across} and {down}", scale.title),
        text: text(trials, &[x, y], metric),
        numbers: table(&scale.title, down, &columns, &rows, &labels),
        x: Axis::names(across, columns.iter().map(|value| shown(value)).collect()),
        y: Axis::names(down, rows.iter().map(|value| shown(value)).collect()),
        marks: Marks::Heat(Heat {
            title: scale.title.clone(),
            values: best.iter().map(each).collect(),
            labels,
            log: false,
        }),
    }
}

/// A metric by the one setting, given by its place, that there is.
pub(super) fn by_one(trials: &Trials, name: &str, x: usize, metric: usize) -> Figure {
    let across = trials.settings[x];
    let columns = trials.values(x);
    let best = best(trials, (x, &columns), None, metric);
    let scale = &trials.metrics[metric].scale;
    let value =
        |trial: &Option<usize>| trial.and_then(|trial| trials.trials[trial].metrics[metric]);
    let values: Vec<Option<f64>> = best.iter().flatten().map(value).collect();
    let labels: Vec<String> = values
        .iter()
        .map(|value| value.map_or("–".to_owned(), |value| scale.tell(value)))
        .collect();
    let mut numbers = Grid::new(
        &scale.title,
        [Head::text(across), Head::number(&scale.title)],
    );
    for (column, label) in columns.iter().zip(&labels) {
        numbers.row([shown(column), label.clone()]);
    }
    Figure {
        id: format!("heat-{}", slug(name)),
        title: format!("{} by {across}", scale.title),
        text: text(trials, &[x], metric),
        numbers,
        x: Axis::names(across, columns.iter().map(|value| shown(value)).collect()),
        y: Axis::linear(&scale.title),
        marks: Marks::Groups(vec![Part {
            name: scale.title.clone(),
            colour: Colour::Series(0),
            values: values
                .iter()
                .map(|v| scale.scaled(v.unwrap_or(0.0)))
                .collect(),
            labels,
        }]),
    }
}

/// The best trial of a metric for each value of a setting, and of another where there is one.
fn best(
    trials: &Trials,
    (x, columns): (usize, &[&str]),
    down: Option<(usize, &[&str])>,
    metric: usize,
) -> Cells {
    let mut cells = vec![vec![None; columns.len()]; down.map_or(1, |(_, rows)| rows.len())];
    let place = |of: &[&str], value: &String| of.iter().position(|other| other == value);
    for (number, trial) in trials.trials.iter().enumerate() {
        let row = down.map_or(Some(0), |(y, rows)| place(rows, &trial.settings[y]));
        let column = place(columns, &trial.settings[x]);
        let (Some(row), Some(column), Some(value)) = (row, column, trial.metrics[metric]) else {
            continue;
        };
        let cell: &mut Option<usize> = &mut cells[row][column];
        let before = cell.and_then(|before| trials.trials[before].metrics[metric]);
        if before.is_none_or(|before| trials.metrics[metric].beats(value, before)) {
            *cell = Some(number);
        }
    }
    cells
}

/// What a cell or bar is, and which is best.
fn text(trials: &Trials, shown_settings: &[usize], metric: usize) -> String {
    let others = (0..trials.settings.len()).filter(|s| !shown_settings.contains(s));
    let others: Vec<&str> = others.map(|setting| trials.settings[setting]).collect();
    let of = match others.is_empty() {
        true => String::new(),
        false => format!("The best over {}. ", others.join(", ")),
    };
    let (better, chosen) = (&trials.metrics[metric].better, best_of_all(trials, metric));
    let which = match better {
        Direction::Max => "Higher",
        Direction::Min => "Lower",
    };
    let best = chosen.map_or(String::new(), |(trial, value)| {
        let told = trials.metrics[metric].scale.tell(value);
        let at = shown_settings.iter().map(|&setting| {
            let value = shown(&trials.trials[trial].settings[setting]);
            format!("{} {value}", trials.settings[setting])
        });
        let at = at.collect::<Vec<_>>().join(" and ");
        format!(" The best is {told}, with {at}.")
    });
    format!("{of}{which} is better.{best}")
}

/// The first trial with the best value of a metric.
fn best_of_all(trials: &Trials, metric: usize) -> Option<(usize, f64)> {
    let all = trials.trials.iter().enumerate();
    let values = all.filter_map(|(number, trial)| Some((number, trial.metrics[metric]?)));
    values.reduce(
        |best, next| match trials.metrics[metric].beats(next.1, best.1) {
            true => next,
            false => best,
        },
    )
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
    fn cells_hold_the_best() {
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
        assert_eq!(figure.numbers.rows[0], ["a", "4.00", "7.00"]);
        assert!(figure.text.contains("7.00, with t_fwd 120 and solver a"));
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
        assert!(figure.text.contains("over solver") && figure.text.contains("Lower"));
    }
}
