//! Finds the best split of a node.
//!
//! The best split minimises the sum of the Gini impurities of both sides, each weighted by its number of rows. This is
//! the same as maximising the sum of their purities, where the purity of a side is Σ (rows of a class)² ÷ rows. For
//! example, suppose that four rows, sorted by a feature, have the classes 0, 0, 1 and 1. With a threshold in the
//! middle, each side has a purity of 2² ÷ 2 = 2. The sum is 4, which is the number of rows, so both sides are pure.
//! With a threshold after the first row, the purities are 1 and (1² + 2²) ÷ 3, so their sum is only 2.67.

use super::grow::Data;

/// The best split so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Best {
    pub feature: usize,
    pub threshold: f64,
    pub missing_left: bool,
    /// The sum of the purities of both sides (see [`Scan::purity`]).
    purity: f64,
}

/// The split with the greatest purity and at least `min_leaf` rows on each side; `None` if no
/// feature allows such a split.
///
/// For each feature, the rows are sorted by value. A threshold moves up through them, and the
/// number of rows of each class on both sides is updated row by row.
pub fn best(data: &Data<'_>, rows: &[usize], counts: &[usize], min_leaf: usize) -> Option<Best> {
    let mut best: Option<Best> = None;
    for (feature, values) in data.columns.iter().enumerate().rev() {
        let mut known: Vec<usize> = rows.to_vec();
        known.retain(|&row| !values[row].is_nan());
        known.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let mut scan = Scan::new(data, counts, &known);
        for pair in known.windows(2) {
            scan.pass(data.labels[pair[0]]);
            let (below, above) = (values[pair[0]], values[pair[1]]);
            let Some(purity) = (below < above).then(|| scan.purity(min_leaf)).flatten() else {
                continue;
            };
            if best.is_none_or(|best| purity > best.purity) {
                best = Some(Best {
                    feature,
                    threshold: between(below, above),
                    missing_left: scan.missing_left(),
                    purity,
                });
            }
        }
    }
    best
}

/// A threshold between two values: their midpoint, or the lower value if rounding moves the
/// midpoint out of the interval.
fn between(below: f64, above: f64) -> f64 {
    let middle = below / 2.0 + above / 2.0;
    if below <= middle && middle < above {
        middle
    } else {
        below
    }
}

/// Number of rows of each class on both sides of a rising threshold, and among the rows with a
/// missing value.
struct Scan {
    left: Vec<usize>,
    right: Vec<usize>,
    missing: Vec<usize>,
    left_rows: usize,
    right_rows: usize,
    missing_rows: usize,
}

impl Scan {
    /// A scan with all known values on the right side. `counts` is the number of rows of each class,
    /// including rows with a missing value.
    fn new(data: &Data<'_>, counts: &[usize], known: &[usize]) -> Self {
        let right = data.counts(known);
        let missing: Vec<usize> = counts
            .iter()
            .zip(&right)
            .map(|(all, known)| all - known)
            .collect();
        Scan {
            left: vec![0; counts.len()],
            left_rows: 0,
            right_rows: known.len(),
            missing_rows: missing.iter().sum(),
            right,
            missing,
        }
    }

    /// Moves a row of this class from the right side to the left.
    fn pass(&mut self, class: u8) {
        let class = usize::from(class);
        self.right[class] -= 1;
        self.right_rows -= 1;
        self.left[class] += 1;
        self.left_rows += 1;
    }

    /// Whether rows with a missing value go left. They go to the side that has more rows with known
    /// values, or to the left if both sides have equally many.
    fn missing_left(&self) -> bool {
        self.left_rows >= self.right_rows
    }

    /// The sum of the purities of both sides, including rows with a missing value; `None` if a side
    /// is too small. The purity of a side is Σ (rows of a class)² ÷ rows. The number of rows minus
    /// this sum is the total impurity of the sides, each weighted by its number of rows.
    fn purity(&self, min_leaf: usize) -> Option<f64> {
        let with_left = self.missing_left();
        let side = |counts: &[usize], rows: usize, with_missing: bool| {
            let more = |class: usize| if with_missing { self.missing[class] } else { 0 };
            let rows = rows + if with_missing { self.missing_rows } else { 0 };
            let square = |(class, count): (usize, &usize)| ((count + more(class)) as f64).powi(2);
            let squares: f64 = counts.iter().enumerate().map(square).sum();
            (rows >= min_leaf).then(|| squares / rows as f64)
        };
        let left = side(&self.left, self.left_rows, with_left)?;
        let right = side(&self.right, self.right_rows, !with_left)?;
        Some(left + right)
    }
}
