//! Tables of figures of `summary.json`, one row for each figure and one column for each run.

use super::Named;
use crate::{Grid, Head};
use gleaner_core::results::replay::Summary;

/// A figure to compare: its name, its value, and how to format the value and a change of it.
pub(super) type Row = (
    &'static str,
    fn(&Summary) -> Option<f64>,
    fn(f64) -> String,
    fn(f64, f64) -> String,
);

/// Those of `rows` that any of the runs has. If there are several runs, each but the first has a
/// second column with its changes relative to the first.
pub(super) fn grid(title: String, runs: &[Named<'_>], rows: &[Row]) -> Grid {
    let mut heads = vec![Head::text("Figure")];
    for (place, run) in runs.iter().enumerate() {
        heads.push(Head::number(if runs.len() > 1 {
            run.name
        } else {
            "Value"
        }));
        if place > 0 {
            heads.push(Head::number("change"));
        }
    }
    let mut grid = Grid::new(title, heads);
    let any_has = |row: &&Row| runs.iter().any(|run| row.1(&run.result.summary).is_some());
    for row in rows.iter().filter(any_has) {
        grid.row(cells(runs, row));
    }
    grid
}

fn cells(runs: &[Named<'_>], (name, of, tell, change): &Row) -> Vec<String> {
    let base = runs.first().and_then(|first| of(&first.result.summary));
    let mut cells = vec![(*name).to_owned()];
    for (place, run) in runs.iter().enumerate() {
        let value = of(&run.result.summary);
        cells.push(value.map_or("–".to_owned(), tell));
        if place > 0 {
            let change = value.zip(base).map(|(value, base)| change(value, base));
            cells.push(change.unwrap_or("–".to_owned()));
        }
    }
    cells
}
