//! Cyclic boosting: round after round, each term in turn takes a small step towards what is left.

use super::curve::{self, Sum, Tree};
use super::settings::Settings;
use super::surface::Cumulated;

/// A term to be fitted: the cell of each row, and how cells lie to each other.
pub(super) struct Terrain {
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

    /// The full step of each cell; `None` where none would help.
    fn step(self, sums: &[Sum], tree: Tree) -> Option<Vec<f64>> {
        match self {
            Shape::Curve { ordered, .. } => Some(curve::step(sums, tree, ordered)),
            Shape::Surface { width, .. } => {
                let grid = Cumulated::new(sums, width);
                grid.best(tree.least).map(|cross| grid.steps(cross))
            }
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

/// A term as a bag sees it.
struct Learner {
    shape: Shape,
    train: Vec<u16>,
    held: Vec<u16>,
    rows: Vec<f64>,
    scores: Vec<f64>,
}

impl Learner {
    fn new(terrain: &Terrain, split: &Split) -> Self {
        let of = |rows: &[usize]| rows.iter().map(|&row| terrain.cells[row]).collect();
        let train: Vec<u16> = of(&split.train);
        let cells = terrain.shape.cells();
        let mut rows = vec![0.0; cells];
        train.iter().for_each(|&cell| rows[cell as usize] += 1.0);
        Learner {
            shape: terrain.shape,
            held: of(&split.held),
            train,
            rows,
            scores: vec![0.0; cells],
        }
    }

    /// Takes a step, and its share from the residuals.
    fn learn(&mut self, train: &mut [f64], held: &mut [f64], rate: f64, tree: Tree) {
        // Where all rows are alike there is nothing to tell them by.
        if self.rows.iter().filter(|&&rows| rows > 0.0).count() < 2 {
            return;
        }
        let mut sums: Vec<Sum> = self
            .rows
            .iter()
            .map(|&rows| Sum {
                residual: 0.0,
                rows,
            })
            .collect();
        for (&cell, residual) in self.train.iter().zip(&*train) {
            sums[cell as usize].residual += residual;
        }
        let Some(mut step) = self.shape.step(&sums, tree) else {
            return;
        };
        step.iter_mut().for_each(|step| *step *= rate);
        for (score, step) in self.scores.iter_mut().zip(&step) {
            *score += step;
        }
        take(train, &self.train, &step);
        take(held, &self.held, &step);
    }
}

/// Takes the value of each row's cell from its residual.
pub(super) fn take(residuals: &mut [f64], cells: &[u16], values: &[f64]) {
    for (residual, &cell) in residuals.iter_mut().zip(cells) {
        *residual -= values[cell as usize];
    }
}

/// Boosts the terms on `residuals` (of all rows), until the held-out rows have gained nothing for
/// a while; what is returned is the best round's. Without held-out rows nothing is learnt.
pub(super) fn boost(
    terms: &[Terrain],
    residuals: &[f64],
    split: &Split,
    settings: &Settings,
) -> Boosted {
    let of = |rows: &[usize]| -> Vec<f64> { rows.iter().map(|&row| residuals[row]).collect() };
    let (mut train, mut held) = (of(&split.train), of(&split.held));
    let mut learners: Vec<Learner> = terms.iter().map(|term| Learner::new(term, split)).collect();
    let tree = Tree {
        leaves: settings.leaves,
        least: f64::from(settings.least_in_leaf.max(1)),
    };
    let scores = |learners: &[Learner]| learners.iter().map(|l| l.scores.clone()).collect();
    let mut best = Boosted {
        scores: scores(&learners),
        rounds: 0,
    };
    let mut least = squares(&held);
    let most = if held.is_empty() {
        0
    } else {
        settings.max_rounds
    };
    for round in 1..=most {
        for learner in &mut learners {
            learner.learn(&mut train, &mut held, settings.learning_rate, tree);
        }
        let loss = squares(&held);
        if loss < least * (1.0 - settings.tolerance) {
            least = loss;
            best = Boosted {
                scores: scores(&learners),
                rounds: round,
            };
        } else if round - best.rounds >= settings.patience {
            break;
        }
    }
    best
}

fn squares(residuals: &[f64]) -> f64 {
    residuals.iter().map(|residual| residual * residual).sum()
}
