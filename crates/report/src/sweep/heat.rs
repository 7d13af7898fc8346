//! A heat map of a metric by two settings.

use super::cells::{Cell, LISTED, best, text, title_of};
use super::trials::{Trials, shown};
use crate::figure::{Axis, Heat, Marks};
use crate::names::slug;
use crate::{Figure, Grid, Head};
use gleaner_runs::sweep::scale::capital;

/// A heat map of the metric with index `metric` by the settings with indices `x` and `y`. A cell shows the best value
/// over the other settings, and each value is a mean over repetitions.
pub(super) fn by_two(trials: &Trials, name: &str, (x, y): (usize, usize), metric: usize) -> Figure {
    let (across, down) = (trials.settings[x], trials.settings[y]);
    let (columns, rows) = (trials.values(x), trials.values(y));
    let best = best(trials, &[x, y], metric);
    let scale = &trials.metrics[metric].scale;
    let cells: Vec<Vec<_>> = rows
        .iter()
        .map(|row| columns.iter().map(|column| best.get(&vec![*column, *row])))
        .map(Iterator::collect)
        .collect();
    let texts = |of: &dyn Fn(Option<&Cell>) -> String| -> Vec<Vec<String>> {
        let row = |row: &Vec<Option<&Cell>>| row.iter().map(|cell| of(*cell)).collect();
        cells.iter().map(row).collect()
    };
    let labels = texts(&|cell| cell.map_or("–".to_owned(), |cell| scale.tell(cell.mean)));
    let notes = texts(&|cell| cell.map_or(String::new(), |cell| cell.note(scale)));
    let has_notes = notes.iter().flatten().any(|note| !note.is_empty());
    let scaled = |row: &Vec<Option<&Cell>>| {
        let cells = row.iter().map(|cell| Some(scale.scaled((*cell)?.mean)));
        cells.collect()
    };
    let how = if has_notes {
        let nouns = trials.over.nouns();
        format!(" Hover over a cell for its 95 % interval and the number of {nouns}.")
    } else {
        String::new()
    };
    Figure {
        id: format!("heat-{}", slug(name)),
        title: format!("{} by {across} and {down}", capital(&scale.title)),
        text: text(trials, &[x, y], metric, &best) + &how,
        numbers: table(&scale.title, down, &columns, &rows, &labels),
        x: Axis::names(across, names(&columns)),
        y: Axis::names(down, names(&rows)),
        marks: Marks::Heat(Heat {
            title: scale.title.clone(),
            values: cells.iter().map(scaled).collect(),
            labels,
            notes: if has_notes { notes } else { Vec::new() },
            log: false,
        }),
    }
}

fn names(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| shown(value)).collect()
}

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

#[cfg(test)]
mod tests {
    use super::super::trials::tests::trials;
    use super::*;

    // Small fixed example: a sweep of two windows and two solvers.
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
        // The values 5 and 9 have the mean 7 and the standard error 2. In published tables, the 97.5th percentile of
        // Student's t with 1 degree of freedom is 12.706.
        assert_eq!(heat.notes[0][1], "95 % interval −18.412 to 32.412, 2 seeds");
        assert_eq!(heat.notes[0][0], "");
    }
}
