//! Chooses the pairs of features that get a term, using FAST (Lou, Caruana, Gehrke and Hooker,
//! "Accurate intelligible models with pairwise interactions", KDD 2013).
//!
//! If two features interact, the residuals of the single-feature terms differ between parts of the
//! plane that the two features span. FAST measures these differences with the simplest model of an
//! interaction. It cuts each feature once, which makes four rectangles, and predicts each rectangle
//! with the mean residual of its rows. The score of a pair is the greatest decrease in the sum of
//! squares that any such *cross* of cuts achieves. For example, let each rectangle have 4 rows,
//! with residuals of 1 in two opposite rectangles and −1 in the others. Each rectangle gains 4² ÷
//! 4, so the cross gains 16, which is the whole sum of squares. A cut of a single feature would not
//! gain anything.
//!
//! 1. [`Coarse::new`] merges the bins of each feature into at most [`MOST_GROUPS`] groups, so that
//!    the grid of a pair has few cells.
//! 2. [`gain`] sums residuals and counts rows in each cell of a pair's grid. This is the only pass
//!    over the rows.
//! 3. [`Surface::best`] finds the best cross with prefix sums, so that each cross takes constant
//!    time.
//! 4. [`rank`] scores all pairs in parallel and keeps the best.

use rayon::prelude::*;

use super::boost::{CellMap, Shape};
use super::surface::Surface;

/// The maximum number of groups on an axis of a pair, including the group for missing values.
const MOST_GROUPS: usize = 33;

/// A feature whose bins are merged into groups, for use as an axis of a pair's surface.
pub(super) struct Coarse {
    /// The group of each bin.
    pub groups: Vec<u16>,
    /// Number of groups.
    pub size: usize,
    /// The group of each row.
    rows: Vec<u16>,
}

impl Coarse {
    /// Merges neighbouring bins into groups with about the same number of rows. Bin 0, for missing
    /// values, remains a separate group. `bins` holds the bin of each row, and `counts` the number
    /// of rows in each bin. For categories, `score` holds a score for each bin, and the bins are
    /// sorted by score before they are merged.
    pub fn new(bins: &[u16], counts: &[u32], score: Option<&[f64]>) -> Self {
        let mut order: Vec<usize> = (1..counts.len()).collect();
        if let Some(score) = score {
            order.sort_by(|&a, &b| score[a].total_cmp(&score[b]));
        }
        let (groups, size) = group(counts, &order);
        Coarse {
            rows: bins.iter().map(|&bin| groups[bin as usize]).collect(),
            groups,
            size,
        }
    }
}

/// Assigns a group to each bin: the bins in `order` get the groups 1, 2 and so on, and all others
/// get group 0. A new group begins once the previous groups hold their share of the rows. If there
/// are fewer bins than [`MOST_GROUPS`], each bin has its own group. Also returns the number of
/// groups.
fn group(counts: &[u32], order: &[usize]) -> (Vec<u16>, usize) {
    let total: f64 = order.iter().map(|&bin| f64::from(counts[bin])).sum();
    let most = (MOST_GROUPS - 1).min(order.len());
    let all = order.len() < MOST_GROUPS;
    let mut groups = vec![0; counts.len()];
    let (mut group, mut seen) = (1, 0.0);
    for (k, &bin) in order.iter().enumerate() {
        let full = seen >= total * group as f64 / most as f64;
        if k > 0 && (all || full) && group < most {
            group += 1;
        }
        groups[bin] = group as u16;
        seen += f64::from(counts[bin]);
    }
    (groups, group + 1)
}

/// The cells of a pair, as a grid with a row for each group of `first` and a column for each group
/// of `second`.
pub(super) fn cells(first: &Coarse, second: &Coarse) -> CellMap {
    let cell = |(&a, &b): (&u16, &u16)| a * second.size as u16 + b;
    CellMap {
        cells: first.rows.iter().zip(&second.rows).map(cell).collect(),
        shape: Shape::Surface {
            height: first.size,
            width: second.size,
        },
    }
}

/// At most `most` pairs with the greatest scores, best first. Pairs that gain nothing are left out.
/// `least` is the minimum number of rows in each rectangle of a cross.
pub(super) fn rank(
    axes: &[Coarse],
    residuals: &[f64],
    least: u32,
    most: usize,
) -> Vec<(usize, usize)> {
    if most == 0 {
        return Vec::new();
    }
    let pairs: Vec<(usize, usize)> = (0..axes.len())
        .flat_map(|a| (a + 1..axes.len()).map(move |b| (a, b)))
        .collect();
    let mut gains: Vec<(f64, (usize, usize))> = pairs
        .into_par_iter()
        .map(|(a, b)| (gain(&axes[a], &axes[b], residuals, least), (a, b)))
        .collect();
    gains.retain(|&(gain, _)| gain > 0.0);
    gains.sort_by(|a, b| b.0.total_cmp(&a.0));
    gains.into_iter().take(most).map(|(_, pair)| pair).collect()
}

/// The score of a pair: the gain of the best cross of cuts on the residuals; 0 if no cross gains
/// anything.
fn gain(first: &Coarse, second: &Coarse, residuals: &[f64], least: u32) -> f64 {
    let (mut rows, mut sums) = (
        vec![0.0; first.size * second.size],
        vec![0.0; first.size * second.size],
    );
    for ((&a, &b), residual) in first.rows.iter().zip(&second.rows).zip(residuals) {
        let cell = a as usize * second.size + b as usize;
        sums[cell] += residual;
        rows[cell] += 1.0;
    }
    let mut surface = Surface::new(&rows, second.size, f64::from(least.max(1)));
    surface.best(&sums).map_or(0.0, |cross| cross.gain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_hold_about_as_many_rows_each() {
        let counts: Vec<u32> = std::iter::once(7).chain([10; 320]).collect();
        let order: Vec<usize> = (1..counts.len()).collect();
        let (groups, size) = group(&counts, &order);
        assert_eq!((groups[0], size), (0, MOST_GROUPS));
        for k in 1..size {
            assert_eq!(
                groups.iter().filter(|&&g| g as usize == k).count(),
                10,
                "group {k}"
            );
        }
    }

    #[test]
    fn few_bins_stay_separate_and_categories_are_sorted_by_score() {
        let coarse = Coarse::new(&[1, 3, 2], &[0, 1, 1, 1], Some(&[0.0, 5.0, -1.0, 2.0]));
        assert_eq!(coarse.groups, [0, 3, 1, 2]);
        assert_eq!((coarse.rows, coarse.size), (vec![3, 2, 1], 4));
    }
}
