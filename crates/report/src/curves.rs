//! Curves over time, and tables of their means.

use super::figure::Curve;
use super::grid::{Grid, Head};
use super::numbers::number;
use gleaner_core::domain::Time;

/// Rows of a table of means. Each covers an equal part of the common axis.
const ROWS: usize = 24;

/// A time in milliseconds since 1970, the unit of time axes.
pub(super) fn millis(time: Time) -> f64 {
    (time.0 / 1_000) as f64 / 1e3
}

/// Formats milliseconds since 1970 as a civil time to the minute.
pub(super) fn minute(millis: f64) -> String {
    let text = Time((millis * 1e6) as i64).to_string();
    text.chars().take("2021-02-10 20:21".len()).collect()
}

/// A table with the means of step curves over [`ROWS`] equal parts of their common axis.
///
/// `place` is the head of the first column. `tell` formats the start of a part for that column. The
/// table has no rows if the curves span no length.
pub(super) fn means(
    title: &str,
    place: &str,
    curves: &[Curve],
    tell: impl Fn(f64) -> String,
) -> Grid {
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
        .map(|curve| step_means(&curve.points, from, width))
        .collect();
    for row in 0..ROWS {
        let cells = columns
            .iter()
            .map(|means| means[row].map_or("–".to_owned(), number));
        grid.row(std::iter::once(tell(from + width * row as f64)).chain(cells));
    }
    grid
}

/// The mean of a step curve over each of [`ROWS`] equal parts; `None` for a part outside the curve.
fn step_means(points: &[(f64, f64)], from: f64, width: f64) -> [Option<f64>; ROWS] {
    let (mut areas, mut lengths) = ([0.0; ROWS], [0.0; ROWS]);
    for pair in points.windows(2) {
        let (mut x, end) = (pair[0].0, pair[1].0);
        let mut row = (((x - from) / width) as usize).min(ROWS - 1);
        while x < end {
            let edge = if row + 1 < ROWS {
                from + width * (row + 1) as f64
            } else {
                end
            };
            let next = edge.min(end).max(x);
            areas[row] += pair[0].1 * (next - x);
            lengths[row] += next - x;
            (x, row) = (next, (row + 1).min(ROWS - 1));
        }
    }
    std::array::from_fn(|row| (lengths[row] > 0.0).then(|| areas[row] / lengths[row]))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Derived by formula: the curve steps from 0 to 6 in the middle of the third part.
    #[test]
    fn means_are_weighted_by_time() {
        let means = step_means(&[(0.0, 0.0), (2.5, 6.0), (24.0, 1.0)], 0.0, 1.0);
        assert_eq!(means[..4], [Some(0.0), Some(0.0), Some(3.0), Some(6.0)]);
        assert_eq!(means[23], Some(6.0));
        let short = step_means(&[(0.0, 2.0), (1.5, 0.0)], 0.0, 1.0);
        assert_eq!(short[..3], [Some(2.0), Some(2.0), None]);
    }
}
