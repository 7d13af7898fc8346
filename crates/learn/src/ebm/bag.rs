//! A bag: its training rows, its held-out rows and the scores learnt so far. The error on the
//! held-out rows decides when boosting stops.

use rand_chacha::ChaCha8Rng;

use super::boost::{Boosted, CellMap, Cuts, Shape, Split};
use super::curve::{Curve, Tree};
use super::settings::Settings;
use super::surface::Surface;
use super::tables::Tables;

/// Searches for the best step of a term.
pub(super) enum Search {
    /// All training rows are in one cell, so the term cannot distinguish them.
    Nothing,
    Curve(Curve),
    Surface(Surface),
}

impl Search {
    /// Prepares the search for a term. `rows` holds the number of training rows in each cell, and
    /// `tree` the limits of a step's tree.
    pub fn new(shape: Shape, rows: Vec<f64>, tree: Tree) -> Self {
        if rows.iter().filter(|&&rows| rows > 0.0).count() < 2 {
            return Search::Nothing;
        }
        match shape {
            Shape::Curve { ordered, .. } => Search::Curve(Curve::new(rows, tree, ordered)),
            Shape::Surface { width, .. } => Search::Surface(Surface::new(&rows, width, tree.least)),
        }
    }

    /// Computes the full step of each cell. `residuals` holds the sum of the residuals in each cell. The cuts are
    /// random if a random number generator is given. Otherwise, they are the best cuts. Returns `false` if no step
    /// would help; `steps` is then unchanged.
    pub fn step(
        &mut self,
        residuals: &[f64],
        random: Option<&mut ChaCha8Rng>,
        steps: &mut [f64],
    ) -> bool {
        match self {
            Search::Nothing => false,
            Search::Curve(curve) => {
                curve.step(residuals, random, steps);
                true
            }
            Search::Surface(surface) => surface.step(residuals, random, steps),
        }
    }
}

/// A term in one bag: the search for its steps, and the cells of the bag's rows.
struct Learner {
    search: Search,
    /// The cell of each training row.
    train: Vec<u16>,
    /// The cell of each held-out row.
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

/// A bag during boosting.
pub(super) struct Bag {
    learners: Vec<Learner>,
    /// The score of each cell, for each term.
    scores: Vec<Vec<f64>>,
    /// Residuals of the training rows before the last step. The next pass over the rows subtracts
    /// this step (see [`Tables::sum`]).
    train: Vec<f64>,
    /// Residuals of the held-out rows.
    pub held: Vec<f64>,
    /// The term of the last step, which has not been subtracted from `train` yet.
    last: usize,
    /// The generator that draws the cuts of random rounds.
    random: ChaCha8Rng,
    /// Index of the bag within each entry of [`Tables`].
    pub lane: usize,
    /// The scores after the best round so far, and the number of that round.
    pub best: Boosted,
    /// Sum of the held-out rows' squared residuals after the best round so far.
    least: f64,
}

impl Bag {
    /// A bag before its first round. `residuals` holds the residuals of all rows. `lane` is the bag's index within each
    /// entry of [`Tables`].
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
            random: split.random.clone(),
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

    /// Whether a term can distinguish training rows.
    pub fn learns(&self, term: usize) -> bool {
        !matches!(self.learners[term].search, Search::Nothing)
    }

    /// Number of cells of a term.
    pub fn cells(&self, term: usize) -> usize {
        self.learners[term].size
    }

    /// For each training row: its residual, its cell in the term of the last step, and its cell in
    /// `term`.
    pub fn rows(&mut self, term: usize) -> impl Iterator<Item = (&mut f64, &u16, &u16)> {
        let (before, cells) = (&self.learners[self.last].train, &self.learners[term].train);
        let rows = self.train.iter_mut().zip(before).zip(cells);
        rows.map(|((residual, before), cell)| (residual, before, cell))
    }

    /// Adds the step of a term, multiplied by `rate`, to the term's scores. The step is computed
    /// from the sums in the tables, and is stored in the tables for the next pass over the rows.
    pub fn step(&mut self, term: usize, cuts: Cuts, rate: f64, tables: &mut Tables) {
        let Learner {
            search, held, size, ..
        } = &mut self.learners[term];
        self.last = term;
        let (sums, steps) = (&mut tables.sum[..*size], &mut tables.step[..*size]);
        for (sum, lanes) in sums.iter_mut().zip(&*tables.sums) {
            *sum = lanes[self.lane];
        }
        let random = (cuts == Cuts::Random).then_some(&mut self.random);
        if search.step(sums, random, steps) {
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

    /// Keeps the scores if this round reduces the held-out error by enough to count as progress.
    /// Returns whether the bag should continue.
    pub fn judge(&mut self, round: usize, settings: &Settings) -> bool {
        let loss = squares(&self.held);
        if loss < self.least * (1.0 - settings.tolerance) {
            self.least = loss;
            self.best.scores.clone_from(&self.scores);
            self.best.rounds = round;
            return true;
        }
        let since = self.best.rounds.max(settings.random_rounds);
        round.saturating_sub(since) < settings.patience
    }
}

/// Subtracts the value of each row's cell from the row's residual.
pub(super) fn take(residuals: &mut [f64], cells: &[u16], values: &[f64]) {
    for (residual, &cell) in residuals.iter_mut().zip(cells) {
        *residual -= values[cell as usize];
    }
}

fn squares(residuals: &[f64]) -> f64 {
    residuals.iter().map(|residual| residual * residual).sum()
}
