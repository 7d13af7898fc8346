//! A step for a pair of features: the two cuts, one on each, that make the best four leaves.

use super::curve::Sum;

/// Sums of all cells above and to the left, so that any rectangle takes four look-ups.
pub(super) struct Cumulated {
    width: usize,
    height: usize,
    sums: Vec<Sum>,
}

/// A cut of each axis: cells before it, and from it on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cross {
    row: usize,
    column: usize,
    /// Decrease of the squares by giving each of the four rectangles its mean.
    pub gain: f64,
}

impl Cumulated {
    /// Of a grid in row-major order, `width` cells a row.
    pub fn new(cells: &[Sum], width: usize) -> Self {
        let height = cells.len() / width;
        let mut sums = vec![Sum::default(); (width + 1) * (height + 1)];
        for row in 0..height {
            let mut line = Sum::default();
            for column in 0..width {
                line = line.plus(cells[row * width + column]);
                let above = sums[row * (width + 1) + column + 1];
                sums[(row + 1) * (width + 1) + column + 1] = above.plus(line);
            }
        }
        Cumulated {
            width,
            height,
            sums,
        }
    }

    fn until(&self, row: usize, column: usize) -> Sum {
        self.sums[row * (self.width + 1) + column]
    }

    /// The rectangles of a cross: above left, above right, below left, below right.
    fn quarters(&self, row: usize, column: usize) -> [Sum; 4] {
        let corner = self.until(row, column);
        let above = self.until(row, self.width);
        let left = self.until(self.height, column);
        let whole = self.until(self.height, self.width);
        let rest = whole.minus(above).minus(left).plus(corner);
        [corner, above.minus(corner), left.minus(corner), rest]
    }

    /// The cross that gains most, with at least `least` rows in each rectangle.
    pub fn best(&self, least: f64) -> Option<Cross> {
        let whole = self.until(self.height, self.width).gain();
        let mut best: Option<Cross> = None;
        for row in 1..self.height {
            for column in 1..self.width {
                let quarters = self.quarters(row, column);
                if quarters.iter().any(|quarter| quarter.rows < least) {
                    continue;
                }
                let gain = quarters.iter().map(|quarter| quarter.gain()).sum::<f64>() - whole;
                if gain > best.map_or(whole * 1e-12, |best| best.gain) {
                    best = Some(Cross { row, column, gain });
                }
            }
        }
        best
    }

    /// The step of each cell: the mean of its rectangle.
    pub fn steps(&self, cross: Cross) -> Vec<f64> {
        let means = self.quarters(cross.row, cross.column).map(Sum::mean);
        let cell = |index: usize| {
            let below = usize::from(index / self.width >= cross.row);
            let right = usize::from(index % self.width >= cross.column);
            means[2 * below + right]
        };
        (0..self.width * self.height).map(cell).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corner_is_found_and_gets_its_mean() {
        // 3 rows of 4 cells, 2 rows of data in each; the two by two cells below right stand out.
        let value = |index: usize| {
            if index / 4 >= 1 && index % 4 >= 2 {
                5.0
            } else {
                -1.0
            }
        };
        let cells: Vec<Sum> = (0..12)
            .map(|index| Sum {
                residual: 2.0 * value(index),
                rows: 2.0,
            })
            .collect();
        let grid = Cumulated::new(&cells, 4);
        let cross = grid.best(1.0);
        // 8 rows of 5 and 16 of −1, less the square of the whole, 24²/24.
        assert_eq!(
            cross,
            Some(Cross {
                row: 1,
                column: 2,
                gain: 8.0 * 25.0 + 16.0 - 24.0
            })
        );
        let steps = cross.map(|cross| grid.steps(cross));
        assert_eq!(steps, Some((0..12).map(value).collect()));
        assert_eq!(grid.best(5.0), None, "no four rectangles of five rows");
    }
}
