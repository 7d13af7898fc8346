//! Cyclic boosting: in each round, every term in turn takes a small step towards the residuals.
//!
//! The full step of a cell is the mean residual of the rows in the cell's leaf. Only the fraction
//! `learning_rate` of the full step is taken. At a rate of 0.1, for example, a leaf with a mean
//! residual of 2 gets a step of 0.2, and its mean residual becomes 1.8. Because the terms take such
//! small steps in turn, correlated features share the effect that they explain.
//!
//! For each term and bag, a pass over the rows sums the residuals of each cell ([`Tables::sum`]).
//! The step is computed from these sums alone ([`Bag::step`]). After a round, each bag decides
//! whether to continue, based on its held-out rows ([`Bag::judge`]).

use gleaner_observer::Observer;
use rand_chacha::ChaCha8Rng;

use super::bag::Bag;
use super::settings::Settings;
use super::tables::Tables;

/// The cell of each row in a term, and the arrangement of the term's cells.
pub(super) struct CellMap {
    pub cells: Vec<u16>,
    pub shape: Shape,
}

/// The arrangement of a term's cells.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// A list of bins. `ordered` is true for numbers, whose neighbouring bins are similar.
    Curve { bins: usize, ordered: bool },
    /// A grid, stored row by row.
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

/// The training rows and the held-out rows of a bag. The error on the held-out rows decides when
/// the bag stops.
pub(super) struct Split {
    pub train: Vec<usize>,
    pub held: Vec<usize>,
    /// The generator that draws the cuts of random rounds.
    pub random: ChaCha8Rng,
}

/// The method of choosing the cuts of a step's tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cuts {
    /// The cuts with the greatest gain.
    Best,
    /// Random cuts, regardless of their gain.
    Random,
}

/// The result of a bag: the scores of each term's cells after the best round, and the number of that round.
pub(super) struct Boosted {
    pub scores: Vec<Vec<f64>>,
    pub rounds: usize,
}

/// Boosts the terms in at most [`ABREAST`](super::tables::ABREAST) bags of equal size. `residuals`
/// holds the residuals of all rows for each bag. A bag stops once the error on its held-out rows
/// has not decreased for [`Settings::patience`] rounds. Returns the best round of each bag. A bag
/// without held-out rows learns nothing. The scores of a bag do not depend on the other bags. A
/// request to stop takes effect after the current round.
pub(super) fn boost(
    maps: &[CellMap],
    residuals: &[Vec<f64>],
    splits: &[Split],
    settings: &Settings,
    observer: &dyn Observer,
) -> Vec<Boosted> {
    let bags = residuals.iter().zip(splits);
    let mut bags: Vec<Bag> = bags
        .enumerate()
        .map(|(lane, (residuals, split))| Bag::new(lane, maps, residuals, split, settings))
        .collect();
    let cells = maps.iter().map(|map| map.shape.cells()).max();
    let mut tables = Tables::new(cells.unwrap_or_default());
    let mut open: Vec<&mut Bag> = bags.iter_mut().filter(|bag| !bag.held.is_empty()).collect();
    for round in 1..=settings.max_rounds {
        if open.is_empty() || observer.is_stopped() {
            break;
        }
        let cuts = if round <= settings.random_rounds {
            Cuts::Random
        } else {
            Cuts::Best
        };
        for term in 0..maps.len() {
            learn(&mut open, term, cuts, settings.learning_rate, &mut tables);
        }
        open.retain_mut(|bag| bag.judge(round, settings));
    }
    bags.into_iter().map(|bag| bag.best).collect()
}

/// Takes a step of one term in each bag. `rate` is the fraction of the full step that is taken.
fn learn(bags: &mut [&mut Bag], term: usize, cuts: Cuts, rate: f64, tables: &mut Tables) {
    let learning = bags.iter_mut().filter(|bag| bag.learns(term));
    let mut learning: Vec<&mut Bag> = learning.map(|bag| &mut **bag).collect();
    tables.sum(&mut learning, term);
    for bag in learning {
        bag.step(term, cuts, rate, tables);
    }
}

#[cfg(test)]
mod tests {
    use super::super::bag::Search;
    use super::super::curve::Tree;
    use super::super::tables::ABREAST;
    use super::*;
    use gleaner_observer::Unobserved;
    use proptest::prelude::*;
    use rand::SeedableRng;

    /// Boosts one bag in the simplest way, with separate passes for the sums, the step and the
    /// residuals.
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
        let mut random = split.random.clone();
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
                let random = (round <= settings.random_rounds).then_some(&mut random);
                if !Search::new(map.shape, rows, tree).step(&sums, random, &mut steps) {
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
            } else if round - best.1.max(settings.random_rounds.min(round)) >= settings.patience {
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
            // In this term, all rows are in the same cell.
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
        #![proptest_config(gleaner_testing::cases(256))]

        /// One bag, or two bags that share a pass and stop independently, learn bit for bit the
        /// same scores as the simplest implementation.
        #[test]
        fn bags_learn_exactly_as_the_simplest_implementation(
            rows in proptest::collection::vec((0..5u16, 0..5u16, -100..100i32), 8..60),
            noise in any::<u64>(), patience in 1..6usize, random_rounds in 0..9usize,
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
                Split { train, held, random: ChaCha8Rng::seed_from_u64(bag as u64) }
            };
            let settings = Settings {
                max_rounds: 40, random_rounds, patience, least_in_leaf: 2, ..Settings::default()
            };
            for count in 1..=ABREAST {
                let residuals: Vec<Vec<f64>> = (0..count as u64).map(residuals).collect();
                let splits: Vec<Split> = (0..count).map(split).collect();
                let found = boost(&maps, &residuals, &splits, &settings, &Unobserved);
                for (bag, found) in found.into_iter().enumerate() {
                    let expected = plain(&maps, &residuals[bag], &splits[bag], &settings);
                    prop_assert_eq!((found.scores, found.rounds), expected);
                }
            }
        }
    }
}
