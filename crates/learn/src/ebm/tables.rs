//! Tables that are indexed by cell and shared by several bags, and the pass over the rows of these
//! bags.

use super::bag::Bag;

/// The maximum number of bags that one thread boosts together.
pub(super) const ABREAST: usize = 2;

/// The number of cells that a 16-bit index can distinguish. An array of this length needs no bounds
/// check in the innermost loop.
const CELLS: usize = 1 << 16;

/// One number per cell and bag.
type Lanes = [[f64; ABREAST]; CELLS];

/// Tables of up to [`ABREAST`] bags, for one term at a time. An entry of `sums` and `steps` holds
/// one number per bag, at the index [`Bag::lane`].
pub(super) struct Tables {
    /// Sum of the residuals of the training rows in each cell.
    pub sums: Vec<[f64; ABREAST]>,
    /// The last step of each bag, for each cell of the step's term.
    pub steps: Vec<[f64; ABREAST]>,
    /// Buffer for the `sums` of one bag.
    pub sum: Vec<f64>,
    /// Buffer for the step of one bag.
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

    /// Makes one pass over the training rows of one or two bags. The pass subtracts the last step
    /// from the residuals, and sums the residuals in each cell of `term`. One pass does both
    /// because most of the time is spent on reading and writing the rows. Neighbouring rows are
    /// often in the same cell, so each addition has to wait for the previous one. Two bags are
    /// handled together so that their waiting times overlap.
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
