//! Curves over time, and tables of their means.

use super::figure::Curve;
use super::numbers::number;
use super::thin::stretches;
use super::{Grid, Head};
use gleaner_domain::{Local, Utc};

/// Number of rows of a table of means. Each row covers an equal part of the common axis.
const ROWS: usize = 24;

/// Converts a time to whole milliseconds since 1970, the unit of time axes. Pages store the differences between times,
/// which the browser can add up without rounding errors because they are whole numbers.
pub(super) fn millis(time: Utc) -> f64 {
    (time.0 / 1_000_000) as f64
}

/// Formats milliseconds since 1970 as a date and time, to the minute.
pub(super) fn minute(millis: f64) -> String {
    let text = Local((millis * 1e6) as i64).to_string();
    text.chars().take("2021-02-10 20:21".len()).collect()
}

/// Builds a table of the means of step curves over [`ROWS`] equal parts of their common axis.
///
/// `place` is the heading of the first column. `tell` formats the start of a part for that column. The table has no
/// rows if the curves' axis has length 0.
pub(super) fn means<'a>(
    title: &str,
    place: &str,
    curves: impl IntoIterator<Item = &'a Curve>,
    tell: impl Fn(f64) -> String,
) -> Grid {
    let curves: Vec<&Curve> = curves.into_iter().collect();
    let heads = curves.iter().map(|curve| Head::number(&curve.name));
    let heads = std::iter::once(Head::text(place)).chain(heads);
    let mut grid = Grid::new(title, heads);
    let xs = || curves.iter().flat_map(|c| &c.points).map(|point| point.0);
    let (from, to) = (xs().fold(f64::MAX, f64::min), xs().fold(f64::MIN, f64::max));
    if from >= to {
        return grid;
    }
    let width = (to - from) / ROWS as f64;
    let columns: Vec<_> = curves
        .iter()
        .map(|curve| stretches(&curve.points, from, width, ROWS))
        .collect();
    for row in 0..ROWS {
        let cells = columns
            .iter()
            .map(|parts| parts[row].map_or("–".to_owned(), |part| number(part.mean)));
        grid.row(std::iter::once(tell(from + width * row as f64)).chain(cells));
    }
    grid
}
