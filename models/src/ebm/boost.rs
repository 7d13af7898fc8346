//! Cyclic boosting: round after round, each term in turn takes a small step towards what is left.

use std::sync::atomic::Ordering;

use super::control::Control;
use super::curve::{Curve, Tree};
use super::settings::Settings;
use super::surface::Surface;

/// The cell of each row in a term, and how the term's cells lie to each other.
pub(super) struct CellMap {
    pub cells: Vec<u16>,
    pub shape: Shape,
}

/// How the cells of a term lie to each other.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// In a row; `ordered`: neighbours are alike.
    Curve { bins: usize, ordered: bool },
    /// In a grid, row by row.
    Surface { height: usize, width: usize },
}

impl Shape {
    pub fn cells(self) -> usize {
        match self {
            Shape::Curve { bins, .. } => bins,
            Shape::Surface { height, width } => height * width,
        }
    }
}

/// The rows a bag learns from, and those by which it knows when to stop.
pub(super) struct Split {
    pub train: Vec<usize>,
    pub held: Vec<usize>,
}

/// What a bag learnt: the score of each cell of each term, and in how many rounds.
pub(super) struct Boosted {
    pub scores: Vec<Vec<f64>>,
    pub rounds: usize,
}

/// Finds the step of a term.
enum Search {
    /// All rows are alike: there is nothing to tell them by.
    Nothing,
    Curve(Curve),
    Surface(Surface),
}

impl Search {
    /// `rows`: training rows in each cell.
    fn new(shape: Shape, rows: Vec<f64>, tree: Tree) -> Self {
        if rows.iter().filter(|&&rows| rows > 0.0).count() < 2 {
            return Search::Nothing;
        }
        match shape {
            Shape::Curve { ordered, .. } => Search::Curve(Curve::new(rows, tree, ordered)),
            Shape::Surface { width, .. } => Search::Surface(Surface::new(&rows, width, tree.least)),
        }
    }

    /// Writes the full step of each cell, by the sum of the residuals in each; `false` where no
    /// step would help.
    fn step(&mut self, residuals: &[f64], steps: &mut [f64]) -> bool {
        match self {
            Search::Nothing => false,
            Search::Curve(curve) => {
                curve.step(residuals, steps);
                true
            }
            Search::Surface(surface) => surface.step(residuals, steps),
        }
    }
}

/// A term as a bag sees it.
struct Learner {
    search: Search,
    /// Cell of each training row.
    train: Vec<u16>,
    /// Cell of each held-out row.
    held: Vec<u16>,
    size: usize,
}

impl Learner {
    fn new(map: &CellMap, split: &Split, tree: Tree) -> Self {
        let of = |rows: &[usize]| rows.iter().map(|&row| map.cells[row]).collect();
        let train: Vec<u16> = of(&split.train);
        let size = map.shape.cells();
        let mut rows = vec![0.0; size];
        train.iter().for_each(|&cell| rows[cell as usize] += 1.0);
        Learner {
            search: Search::new(map.shape, rows, tree),
            held: of(&split.held),
            train,
            size,
        }
    }
}

/// A bag while it learns.
struct Bag {
    learners: Vec<Learner>,
    /// Score of each cell, by term.
    scores: Vec<Vec<f64>>,
    /// What is left of the training rows' labels, but for the last step.
    train: Vec<f64>,
    /// What is left of the held-out rows' labels.
    held: Vec<f64>,
    /// The term of the last step, which is still to be taken from `train`.
    last: usize,
    /// Its lane of the tables.
    lane: usize,
    /// The scores after the best round, and which that was.
    best: Boosted,
    /// The held-out rows' sum of squares after it.
    least: f64,
}

impl Bag {
    fn new(maps: &[CellMap], residuals: &[f64], split: &Split, settings: &Settings) -> Self {
        let tree = Tree {
            leaves: settings.leaves,
            least: f64::from(settings.least_in_leaf.max(1)),
        };
        let of = |rows: &[usize]| -> Vec<f64> { rows.iter().map(|&row| residuals[row]).collect() };
        let size = |map: &CellMap| map.shape.cells();
        let scores: Vec<Vec<f64>> = maps.iter().map(|map| vec![0.0; size(map)]).collect();
        let held = of(&split.held);
        let learner = |map| Learner::new(map, split, tree);
        Bag {
            learners: maps.iter().map(learner).collect(),
            train: of(&split.train),
            last: 0,
            lane: 0,
            least: squares(&held),
            held,
            best: Boosted {
                scores: scores.clone(),
                rounds: 0,
            },
            scores,
        }
    }

    /// Whether a term can tell training rows apart.
    fn learns(&self, term: usize) -> bool {
        !matches!(self.learners[term].search, Search::Nothing)
    }

    /// By training row: its residual, its cell in the term of the last step, and in this one.
    fn rows(&mut self, term: usize) -> impl Iterator<Item = (&mut f64, &u16, &u16)> {
        let (before, cells) = (&self.learners[self.last].train, &self.learners[term].train);
        let rows = self.train.iter_mut().zip(before).zip(cells);
        rows.map(|((residual, before), cell)| (residual, before, cell))
    }

    /// Takes `rate` of the best step of a term, by the sums in the tables.
    fn step(&mut self, term: usize, rate: f64, tables: &mut Tables) {
        let Learner {
            search, held, size, ..
        } = &mut self.learners[term];
        self.last = term;
        let (sums, steps) = (&mut tables.sum[..*size], &mut tables.step[..*size]);
        for (sum, lanes) in sums.iter_mut().zip(&*tables.sums) {
            *sum = lanes[self.lane];
        }
        if search.step(sums, steps) {
            steps.iter_mut().for_each(|step| *step *= rate);
            for (score, step) in self.scores[term].iter_mut().zip(&*steps) {
                *score += step;
            }
            take(&mut self.held, held, steps);
        } else {
            steps.fill(0.0);
        }
        for (lanes, step) in tables.steps.iter_mut().zip(steps) {
            lanes[self.lane] = *step;
        }
    }

    /// Keeps the scores of a round that is the best so far. Whether another round is worth while.
    fn judge(&mut self, round: usize, settings: &Settings) -> bool {
        let loss = squares(&self.held);
        if loss < self.least * (1.0 - settings.tolerance) {
            self.least = loss;
            self.best.scores.clone_from(&self.scores);
            self.best.rounds = round;
            return true;
        }
        round - self.best.rounds < settings.patience
    }
}

/// Bags that one thread learns at a time, where there are enough of them.
pub(super) const ABREAST: usize = 2;

/// Cells there can be, as they are counted in 16 bits: the innermost loop needs no check where it
/// looks into an array of as many.
const CELLS: usize = 1 << 16;

/// A number for each cell, and in it for each bag.
type Lanes = [[f64; ABREAST]; CELLS];

/// What up to [`ABREAST`] bags look up by cell of one term at a time.
struct Tables {
    /// Sums of the residuals of training rows by cell of a term.
    sums: Vec<[f64; ABREAST]>,
    /// The last step, by cell of its term.
    steps: Vec<[f64; ABREAST]>,
    /// The same of one bag.
    sum: Vec<f64>,
    step: Vec<f64>,
}

impl Tables {
    /// For terms of at most so many cells.
    fn new(cells: usize) -> Self {
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
    fn sum(&mut self, bags: &mut [&mut Bag], term: usize) {
        let (Some(sums), Some(steps)) = (self.sums.first_chunk_mut(), self.steps.first_chunk())
        else {
            return;
        };
        let (sums, steps): (&mut Lanes, &Lanes) = (sums, steps);
        let cells = bags.first().map_or(0, |bag| bag.learners[term].size);
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

/// Takes the value of each row's cell from its residual.
pub(super) fn take(residuals: &mut [f64], cells: &[u16], values: &[f64]) {
    for (residual, &cell) in residuals.iter_mut().zip(cells) {
        *residual -= values[cell as usize];
    }
}

/// Boosts the terms in at most [`ABREAST`] bags of equal size, by the `residuals` (of all rows) of
/// each, until a bag's held-out rows have gained nothing for a while; what is returned of each is
/// the best round's. Without held-out rows nothing is learnt. What a bag learns does not depend on
/// the others. Ends early where it is told to stop.
pub(super) fn boost(
    maps: &[CellMap],
    residuals: &[Vec<f64>],
    splits: &[Split],
    settings: &Settings,
    control: Control<'_>,
) -> Vec<Boosted> {
    let bags = residuals.iter().zip(splits);
    let mut bags: Vec<Bag> = bags
        .enumerate()
        .map(|(lane, (residuals, split))| Bag {
            lane,
            ..Bag::new(maps, residuals, split, settings)
        })
        .collect();
    let cells = maps.iter().map(|map| map.shape.cells()).max();
    let mut tables = Tables::new(cells.unwrap_or_default());
    let mut open: Vec<&mut Bag> = bags.iter_mut().filter(|bag| !bag.held.is_empty()).collect();
    for round in 1..=settings.max_rounds {
        if open.is_empty() || control.stop.load(Ordering::Relaxed) {
            break;
        }
        for term in 0..maps.len() {
            learn(&mut open, term, settings.learning_rate, &mut tables);
        }
        open.retain_mut(|bag| bag.judge(round, settings));
    }
    bags.into_iter().map(|bag| bag.best).collect()
}

/// A step of a term in each bag; `rate` is the share of it that is taken.
fn learn(bags: &mut [&mut Bag], term: usize, rate: f64, tables: &mut Tables) {
    let learning = bags.iter_mut().filter(|bag| bag.learns(term));
    let mut learning: Vec<&mut Bag> = learning.map(|bag| &mut **bag).collect();
    tables.sum(&mut learning, term);
    for bag in learning {
        bag.step(term, rate, tables);
    }
}

fn squares(residuals: &[f64]) -> f64 {
    residuals.iter().map(|residual| residual * residual).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Boosts one bag by the book: sums, step, and what is left, each in a pass of its own.
    fn plain(
        maps: &[CellMap],
        residuals: &[f64],
        split: &Split,
        settings: &Settings,
    ) -> (Vec<Vec<f64>>, usize) {
        let tree = Tree {
            leaves: settings.leaves,
            least: f64::from(settings.least_in_leaf),
        };
        let mut left = residuals.to_vec();
        let loss = |left: &[f64]| split.held.iter().map(|&row| left[row] * left[row]).sum();
        let mut scores: Vec<Vec<f64>> = maps.iter().map(|m| vec![0.0; m.shape.cells()]).collect();
        let (mut best, mut least): (_, f64) = ((scores.clone(), 0), loss(&left));
        for round in 1..=settings.max_rounds {
            for (map, scores) in maps.iter().zip(&mut scores) {
                let size = map.shape.cells();
                let (mut rows, mut sums) = (vec![0.0; size], vec![0.0; size]);
                for &row in &split.train {
                    rows[usize::from(map.cells[row])] += 1.0;
                    sums[usize::from(map.cells[row])] += left[row];
                }
                let mut steps = vec![0.0; size];
                if !Search::new(map.shape, rows, tree).step(&sums, &mut steps) {
                    continue;
                }
                for (score, step) in scores.iter_mut().zip(&steps) {
                    *score += step * settings.learning_rate;
                }
                for (left, &cell) in left.iter_mut().zip(&map.cells) {
                    *left -= steps[usize::from(cell)] * settings.learning_rate;
                }
            }
            let now: f64 = loss(&left);
            if now < least * (1.0 - settings.tolerance) {
                (best, least) = ((scores.clone(), round), now);
            } else if round - best.1 >= settings.patience {
                break;
            }
        }
        best
    }

    fn maps(bins: &[(u16, u16)]) -> Vec<CellMap> {
        let map = |cell: &dyn Fn(&(u16, u16)) -> u16, shape| CellMap {
            cells: bins.iter().map(cell).collect(),
            shape,
        };
        let curve = |ordered| Shape::Curve { bins: 5, ordered };
        vec![
            map(&|bins| bins.0, curve(true)),
            map(&|bins| bins.1, curve(false)),
            // Nothing to tell rows by.
            map(&|_| 3, curve(true)),
            map(
                &|bins| 5 * bins.0 + bins.1,
                Shape::Surface {
                    height: 5,
                    width: 5,
                },
            ),
        ]
    }

    proptest! {
        /// One bag or two that share a pass and stop when they like, each is learnt as by the book,
        /// to the last bit.
        #[test]
        fn bags_learn_as_by_the_book(
            rows in proptest::collection::vec((0..5u16, 0..5u16, -100..100i32), 8..60),
            noise in any::<u64>(), patience in 1..6usize,
        ) {
            let bins: Vec<(u16, u16)> = rows.iter().map(|row| (row.0, row.1)).collect();
            let maps = maps(&bins);
            let residuals = |bag: u64| -> Vec<f64> {
                let label = |row: &(u16, u16, i32)| f64::from(row.2) / 7.0 + f64::from(row.0);
                let shift = |k: usize| ((noise >> (k % 60)) & (1 + bag)) as f64;
                rows.iter().enumerate().map(|(k, row)| label(row) + shift(k)).collect()
            };
            let split = |bag: usize| {
                let held = |row: &usize| (row + bag * 3) % rows.len() < rows.len() / 4;
                let (held, train) = (0..rows.len()).partition(held);
                Split { train, held }
            };
            let settings = Settings { max_rounds: 40, patience, least_in_leaf: 2, ..Settings::default() };
            for count in 1..=ABREAST {
                let residuals: Vec<Vec<f64>> = (0..count as u64).map(residuals).collect();
                let splits: Vec<Split> = (0..count).map(split).collect();
                let found = boost(&maps, &residuals, &splits, &settings, Control::default());
                for (bag, found) in found.into_iter().enumerate() {
                    let expected = plain(&maps, &residuals[bag], &splits[bag], &settings);
                    prop_assert_eq!((found.scores, found.rounds), expected);
                }
            }
        }
    }
}
