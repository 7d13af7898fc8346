//! Which pairs of features deserve a term: FAST (Lou, Caruana, Gehrke and Hooker, "Accurate
//! intelligible models with pairwise interactions", KDD 2013).

use rayon::prelude::*;

use super::boost::{CellMap, Shape};
use super::surface::Surface;

/// Most groups of bins on an axis of a pair, that of missing values included.
const MOST_GROUPS: usize = 33;

/// A feature as an axis of pairs: fewer and larger cells than its bins.
pub(super) struct Coarse {
    /// Group of each bin.
    pub groups: Vec<u16>,
    /// Number of groups.
    pub size: usize,
    /// Group of each row.
    rows: Vec<u16>,
}

impl Coarse {
    /// Merges neighbouring bins, so that groups hold about as many rows each; bin 0 stays alone.
    /// `score`: by which the bins of a category are brought into order first.
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

/// The cells of a pair of axes.
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

/// The pairs by what a single cross of cuts gains on the residuals, best first; pairs that gain
/// nothing are left out.
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
    fn few_bins_stay_apart_and_categories_lie_by_score() {
        let coarse = Coarse::new(&[1, 3, 2], &[0, 1, 1, 1], Some(&[0.0, 5.0, -1.0, 2.0]));
        assert_eq!(coarse.groups, [0, 3, 1, 2]);
        assert_eq!((coarse.rows, coarse.size), (vec![3, 2, 1], 4));
    }
}
