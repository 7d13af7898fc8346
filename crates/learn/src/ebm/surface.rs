//! The step of a pair of features: a tree with four leaves. The tree is the best cross, which cuts each axis once.
//!
//! Each cell of a grid holds the sum of the residuals and the number of training rows in it. Two-dimensional prefix
//! sums give the sum over any rectangle, and therefore the gain of any cross, in constant time. The gain of a cross is
//! the sum of `s² ÷ n` over its four rectangles, minus `s² ÷ n` of the whole grid. Here, `s` is a sum of residuals and
//! `n` a number of rows. For example, let a grid of 3 rows and 4 columns have 2 training rows in each cell. The
//! residuals of these rows are 5 in the four cells at the lower right, and −1 elsewhere. One cross cuts the grid above
//! and to the left of these four cells. For its rectangles, `s² ÷ n` is 4, 4, 8 and 40² ÷ 8 = 200. For the whole grid,
//! it is 24² ÷ 24 = 24, so this cross gains 192.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::curve::Sum;

/// A grid of cells. Each step cuts it with the best cross for the current residuals, or with a random cross.
pub(super) struct Surface {
    width: usize,
    height: usize,
    /// Number of rows above and to the left of each corner of the grid (two-dimensional prefix
    /// sums). Four look-ups give the number of rows of any rectangle.
    rows: Vec<f64>,
    /// The sums of residuals above and to the left of each corner.
    residuals: Vec<f64>,
    /// For each cross, 1 ÷ (number of rows) of each of its four rectangles. All four are 0 if a
    /// rectangle has too few rows.
    weights: [Vec<f64>; 4],
    /// Estimated gains of the crosses with the same `row` (see [`Surface::estimate`]).
    gains: Vec<f64>,
}

/// A pair of cuts, one for each axis. The first cut separates the cells before `row` from the cells at and after `row`.
/// The second cut separates the cells before `column` from the cells at and after `column`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cross {
    row: usize,
    column: usize,
    /// Decrease in the sum of squares if the prediction for each of the four rectangles is its own mean instead of the
    /// grid's mean.
    pub gain: f64,
}

/// An upper bound on the relative rounding error of a sum of four squares.
const ROUNDING: f64 = 1e-12;

impl Surface {
    /// Creates a grid. `rows` holds the number of training rows in each cell, row by row with
    /// `width` cells each. `least` is the minimum number of rows in each rectangle of a cross.
    pub fn new(rows: &[f64], width: usize, least: f64) -> Self {
        let height = rows.len() / width;
        let mut surface = Surface {
            width,
            height,
            rows: vec![0.0; (width + 1) * (height + 1)],
            residuals: vec![0.0; (width + 1) * (height + 1)],
            weights: std::array::from_fn(|_| vec![0.0; rows.len()]),
            gains: vec![0.0; width],
        };
        cumulate(rows, width, &mut surface.rows);
        for row in 1..height {
            for column in 1..width {
                let quarters = surface.quarters(row, column).map(|quarter| quarter.rows);
                if quarters.iter().all(|&rows| rows >= least) {
                    for (weights, rows) in surface.weights.iter_mut().zip(quarters) {
                        weights[row * width + column] = 1.0 / rows;
                    }
                }
            }
        }
        surface
    }

    fn until(&self, row: usize, column: usize) -> Sum {
        let corner = row * (self.width + 1) + column;
        Sum {
            residual: self.residuals[corner],
            rows: self.rows[corner],
        }
    }

    /// The four rectangles of a cross: above left, above right, below left, below right.
    fn quarters(&self, row: usize, column: usize) -> [Sum; 4] {
        let corner = self.until(row, column);
        let above = self.until(row, self.width);
        let left = self.until(self.height, column);
        let whole = self.until(self.height, self.width);
        let rest = whole.minus(above).minus(left).plus(corner);
        [corner, above.minus(corner), left.minus(corner), rest]
    }

    /// The row and the column of a random cross; `None` if a rectangle of this cross has too few
    /// rows.
    fn draw(&self, random: &mut ChaCha8Rng) -> Option<(usize, usize)> {
        if self.width < 2 || self.height < 2 {
            return None;
        }
        let row = random.random_range(1..self.height);
        let column = random.random_range(1..self.width);
        let has_rows = self.weights[0][row * self.width + column] > 0.0;
        has_rows.then_some((row, column))
    }

    /// The cross with the greatest gain among those whose rectangles have enough rows. `residuals`
    /// holds the sum of the residuals in each cell. `None` if no cross gains anything.
    pub fn best(&mut self, residuals: &[f64]) -> Option<Cross> {
        cumulate(residuals, self.width, &mut self.residuals);
        let whole = self.until(self.height, self.width).gain();
        let mut best: Option<Cross> = None;
        for row in 1..self.height {
            self.estimate(row);
            for column in 1..self.width {
                let most = best.map_or(whole * ROUNDING, |best| best.gain);
                if self.gains[column] <= (most + whole) * (1.0 - ROUNDING) {
                    continue;
                }
                let quarters = self.quarters(row, column);
                let gain = quarters.iter().map(|quarter| quarter.gain()).sum::<f64>() - whole;
                if gain > most {
                    best = Some(Cross { row, column, gain });
                }
            }
        }
        best
    }

    /// Estimates the gains of all crosses with the same `row`, without subtracting `s² ÷ n` of the
    /// whole grid. Estimates are fast because they need no divisions and no branches. They differ
    /// from exact gains only by rounding, so [`Surface::best`] computes a gain exactly only if its
    /// estimate may exceed the best gain so far. The estimate is 0 for a cross with too few rows in
    /// a rectangle.
    fn estimate(&mut self, row: usize) {
        let (width, line) = (self.width, row * (self.width + 1));
        let last = &self.residuals[self.height * (width + 1)..][..=width];
        let corners = &self.residuals[line..][..=width];
        let (whole, above) = (last[width], corners[width]);
        let [first, second, third, fourth] = self
            .weights
            .each_ref()
            .map(|weights| &weights[row * width..][..width]);
        let gains = &mut self.gains[..width];
        for column in 0..width {
            let (corner, left) = (corners[column], last[column]);
            let quarters = [
                (corner, first[column]),
                (above - corner, second[column]),
                (left - corner, third[column]),
                (whole - above - left + corner, fourth[column]),
            ];
            let squares = quarters.map(|(residual, weight)| residual * residual * weight);
            gains[column] = (squares[0] + squares[1]) + (squares[2] + squares[3]);
        }
    }

    /// Computes the step of each cell, which is the mean residual of the cell's rectangle. The
    /// rectangles are those of a random cross if a random number generator is given, and those of
    /// the best cross otherwise. Returns `false` if no cross gains anything, or if a rectangle of
    /// the random cross has too few rows; `steps` is then unchanged.
    pub fn step(
        &mut self,
        residuals: &[f64],
        random: Option<&mut ChaCha8Rng>,
        steps: &mut [f64],
    ) -> bool {
        let cross = match random {
            None => self.best(residuals).map(|best| (best.row, best.column)),
            Some(random) => self.draw(random).inspect(|_| {
                cumulate(residuals, self.width, &mut self.residuals);
            }),
        };
        let Some((cut_row, cut_column)) = cross else {
            return false;
        };
        let [corner, right, below, rest] = self.quarters(cut_row, cut_column).map(Sum::mean);
        for (row, steps) in steps.chunks_mut(self.width).enumerate() {
            let (before, after) = steps.split_at_mut(cut_column);
            let [left, right] = if row < cut_row {
                [corner, right]
            } else {
                [below, rest]
            };
            before.fill(left);
            after.fill(right);
        }
        true
    }
}

/// Computes the sums of all cells above and to the left of each corner. The first row and column
/// stay 0.
fn cumulate(cells: &[f64], width: usize, sums: &mut [f64]) {
    for (row, cells) in cells.chunks(width).enumerate() {
        let (above, line) = sums[row * (width + 1)..].split_at_mut(width + 1);
        let mut sum = 0.0;
        for (column, cell) in cells.iter().enumerate() {
            sum += cell;
            line[column + 1] = above[column + 1] + sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;

    #[test]
    fn a_corner_is_found_and_gets_its_mean() {
        // A grid of 3 rows and 4 columns with 2 training rows in each cell. The residuals in the four cells at the
        // lower right differ from those in the other cells.
        let value = |index: usize| {
            if index / 4 >= 1 && index % 4 >= 2 {
                5.0
            } else {
                -1.0
            }
        };
        let residuals: Vec<f64> = (0..12).map(|index| 2.0 * value(index)).collect();
        let mut grid = Surface::new(&[2.0; 12], 4, 1.0);
        // The gain is 8 × 5² + 16 × (−1)², minus 24² ÷ 24 for the whole grid.
        assert_eq!(
            grid.best(&residuals),
            Some(Cross {
                row: 1,
                column: 2,
                gain: 8.0 * 25.0 + 16.0 - 24.0
            })
        );
        let mut steps = [0.0; 12];
        assert!(grid.step(&residuals, None, &mut steps));
        assert_eq!(steps.to_vec(), (0..12).map(value).collect::<Vec<_>>());
        let mut strict = Surface::new(&[2.0; 12], 4, 5.0);
        assert_eq!(
            strict.best(&residuals),
            None,
            "no four rectangles of five rows"
        );
        assert!(!strict.step(&residuals, None, &mut steps));
    }

    #[test]
    fn drawn_crosses_have_enough_rows_and_their_means() {
        // Only cuts next to the third column, which is empty, leave two rows in each rectangle.
        let rows = [1.0, 1.0, 0.0, 2.0, 1.0, 1.0, 0.0, 2.0];
        let mut grid = Surface::new(&rows, 4, 2.0);
        let residuals = [2.0, 4.0, 0.0, -2.0, 6.0, 0.0, 0.0, 8.0];
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut stepped = 0;
        for _ in 0..100 {
            let mut steps = [0.0; 8];
            if grid.step(&residuals, Some(&mut random), &mut steps) {
                stepped += 1;
                assert_eq!(steps[..2], [3.0, 3.0]);
                assert_eq!(steps[3], -1.0);
                assert_eq!(steps[4..6], [3.0, 3.0]);
                assert_eq!(steps[7], 4.0);
            }
        }
        assert!((20..100).contains(&stepped), "{stepped} of 100 draws");
        assert!(!Surface::new(&[4.0; 4], 4, 1.0).step(&[1.0; 4], Some(&mut random), &mut [0.0; 4]));
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        /// Compares the result with an exhaustive search, which sums over the four rectangles of
        /// each cross.
        #[test]
        fn the_best_cross_is_that_of_brute_force(
            width in 1..7usize, height in 1..6usize,
            cells in proptest::collection::vec((0..4u32, -50..50i32), 42), least in 1..4u32,
        ) {
            let cells = &cells[..width * height];
            let rows: Vec<f64> = cells.iter().map(|cell| f64::from(cell.0)).collect();
            let residuals: Vec<f64> =
                cells.iter().map(|cell| f64::from(cell.0) * f64::from(cell.1)).collect();
            let least = f64::from(least);
            let gain = |keep: &dyn Fn(usize) -> bool| {
                let kept = || (0..cells.len()).filter(|&cell| keep(cell));
                let sum: f64 = kept().map(|cell| residuals[cell]).sum();
                let count: f64 = kept().map(|cell| rows[cell]).sum();
                (count >= least).then(|| sum * sum / count)
            };
            let of = |row: usize, column: usize| {
                let quarter = |below: bool, right: bool| gain(&|cell| {
                    (cell / width >= row) == below && (cell % width >= column) == right
                });
                let whole: f64 = gain(&|_| true)?;
                let four = [quarter(false, false)?, quarter(false, true)?, quarter(true, false)?,
                    quarter(true, true)?];
                Some(four.iter().sum::<f64>() - whole)
            };
            let mut most = 0.0f64;
            for row in 1..height {
                for column in 1..width {
                    most = most.max(of(row, column).unwrap_or(0.0));
                }
            }
            let found = Surface::new(&rows, width, least).best(&residuals);
            let near = |found: f64| (found - most).abs() <= 1e-9 * (1.0 + most);
            prop_assert!(near(found.map_or(0.0, |cross| cross.gain)), "{found:?}, {most}");
            if let Some(cross) = found {
                prop_assert!(of(cross.row, cross.column).is_some_and(near));
            }
        }
    }
}
