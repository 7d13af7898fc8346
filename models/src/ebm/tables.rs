//! What bags look up by cell, and the pass over their rows.

use super::bag::Bag;

/// Bags that one thread learns at a time, where there are enough of them.
pub(super) const ABREAST: usize = 2;

/// Cells there can be, as they are counted in 16 bits: the innermost loop needs no check where it
/// looks into an array of as many.
const CELLS: usize = 1 << 16;

/// A number for each cell, and in it for each bag.
type Lanes = [[f64; ABREAST]; CELLS];

/// What up to [`ABREAST`] bags look up by cell of one term at a time.
pub(super) struct Tables {
    /// Sums of the residuals of training rows by cell of a term.
    pub sums: Vec<[f64; ABREAST]>,
    /// The last step, by cell of its term.
    pub steps: Vec<[f64; ABREAST]>,
    /// The same of one bag.
    pub sum: Vec<f64>,
    pub step: Vec<f64>,
}

impl Tables {
    /// Tables for terms with at most `cells` cells.
    pub fn new(cells: usize) -> Self {
        Tables {
            sums: vec![[0.0; ABREAST]; CELLS],
            steps: vec![[0.0; ABREAST]; CELLS],
            sum: vec![0.0; cells],
            step: vec![0.0; cells],
        }
    }

    /// One pass over the training rows of one or two bags takes the last step from their residuals,
    /// and sums them by cell of a term: reading and writing the rows is what costs. Neighbouring
    /// rows are often in one cell, and each then waits for the sum of the row before; two bags
    /// wait at the same time.
    pub fn sum(&mut self, bags: &mut [&mut Bag], term: usize) {
        let (Some(sums), Some(steps)) = (self.sums.first_chunk_mut(), self.steps.first_chunk())
        else {
            return;
        };
        let (sums, steps): (&mut Lanes, &Lanes) = (sums, steps);
        let cells = bags.first().map_or(0, |bag| bag.cells(term));
        sums[..cells].fill([0.0; ABREAST]);
        let mut row = |(residual, before, cell): (&mut f64, &u16, &u16), lane: usize| {
            *residual -= steps[usize::from(*before)][lane];
            sums[usize::from(*cell)][lane] += *residual;
        };
        match bags {
            [first, second] if (first.lane, second.lane) == (0, 1) => {
                for (of_first, of_second) in first.rows(term).zip(second.rows(term)) {
                    row(of_first, 0);
                    row(of_second, 1);
                }
            }
            bags => {
                for bag in bags {
                    let lane = bag.lane % ABREAST;
                    bag.rows(term).for_each(|of_row| row(of_row, lane));
                }
            }
        }
    }
}
