//! The best split of a node.

use super::grow::Data;

/// The best split so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Best {
    pub feature: usize,
    pub threshold: f64,
    pub missing_left: bool,
    /// How pure it leaves the rows: the sum of both sides' purity.
    purity: f64,
}

/// The split that leaves the rows purest, with at least `min_leaf` rows on each side; `None` where
/// no feature has two values that can be parted so.
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

/// A point between two values that parts them: the middle, where it does.
fn between(below: f64, above: f64) -> f64 {
    let middle = below / 2.0 + above / 2.0;
    if below <= middle && middle < above {
        middle
    } else {
        below
    }
}

/// Rows by class on both sides of a threshold that rises, and those whose value is missing.
struct Scan {
    left: Vec<usize>,
    right: Vec<usize>,
    missing: Vec<usize>,
    left_rows: usize,
    right_rows: usize,
    missing_rows: usize,
}

impl Scan {
    /// All known values on the right side. `counts` are of all rows.
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

    /// Takes a row of a class from right to left.
    fn pass(&mut self, class: u8) {
        let class = usize::from(class);
        self.right[class] -= 1;
        self.right_rows -= 1;
        self.left[class] += 1;
        self.left_rows += 1;
    }

    /// Whether rows whose value is missing go left: with the larger side, left of equal ones.
    fn missing_left(&self) -> bool {
        self.left_rows >= self.right_rows
    }

    /// How pure the sides are, with those whose value is missing; `None` where one is too small.
    /// Rows less this is the sum of the sides' impurities, each times its rows.
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
