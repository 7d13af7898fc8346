//! A bag: rows to learn from, rows to know when to stop by, and what it has learnt so far.

use super::boost::{Boosted, CellMap, Shape, Split};
use super::curve::{Curve, Tree};
use super::settings::Settings;
use super::surface::Surface;
use super::tables::Tables;

/// Finds the step of a term.
pub(super) enum Search {
    /// All rows are alike: there is nothing to tell them by.
    Nothing,
    Curve(Curve),
    Surface(Surface),
}

impl Search {
    /// `rows`: training rows in each cell.
    pub fn new(shape: Shape, rows: Vec<f64>, tree: Tree) -> Self {
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
    pub fn step(&mut self, residuals: &[f64], steps: &mut [f64]) -> bool {
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
pub(super) struct Bag {
    learners: Vec<Learner>,
    /// Score of each cell, by term.
    scores: Vec<Vec<f64>>,
    /// What is left of the training rows' labels, but for the last step.
    train: Vec<f64>,
    /// What is left of the held-out rows' labels.
    pub held: Vec<f64>,
    /// The term of the last step, which is still to be taken from `train`.
    last: usize,
    /// Its lane of the tables.
    pub lane: usize,
    /// The scores after the best round, and which that was.
    pub best: Boosted,
    /// The held-out rows' sum of squares after it.
    least: f64,
}

impl Bag {
    /// `lane`: its place in the tables.
    pub fn new(
        lane: usize,
        maps: &[CellMap],
        residuals: &[f64],
        split: &Split,
        settings: &Settings,
    ) -> Self {
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
            lane,
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
    pub fn learns(&self, term: usize) -> bool {
        !matches!(self.learners[term].search, Search::Nothing)
    }

    /// Cells of a term.
    pub fn cells(&self, term: usize) -> usize {
        self.learners[term].size
    }

    /// By training row: its residual, its cell in the term of the last step, and in this one.
    pub fn rows(&mut self, term: usize) -> impl Iterator<Item = (&mut f64, &u16, &u16)> {
        let (before, cells) = (&self.learners[self.last].train, &self.learners[term].train);
        let rows = self.train.iter_mut().zip(before).zip(cells);
        rows.map(|((residual, before), cell)| (residual, before, cell))
    }

    /// Takes `rate` of the best step of a term, by the sums in the tables.
    pub fn step(&mut self, term: usize, rate: f64, tables: &mut Tables) {
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
    pub fn judge(&mut self, round: usize, settings: &Settings) -> bool {
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

/// Takes the value of each row's cell from its residual.
pub(super) fn take(residuals: &mut [f64], cells: &[u16], values: &[f64]) {
    for (residual, &cell) in residuals.iter_mut().zip(cells) {
        *residual -= values[cell as usize];
    }
}

fn squares(residuals: &[f64]) -> f64 {
    residuals.iter().map(|residual| residual * residual).sum()
}
