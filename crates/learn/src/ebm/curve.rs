//! The step of one feature: a small regression tree on a histogram of the residuals.
//!
//! The residuals of each bin are summed first. The cost of a tree therefore depends on the number
//! of bins and not on the number of rows. Prefix sums give the sum over any range of bins in
//! constant time.
//!
//! If a leaf with `n` rows and the residual sum `s` predicts its mean, the sum of squares decreases
//! by `s² ÷ n`. The best cut of a leaf is therefore the cut with the greatest `s₁² ÷ n₁ + s₂² ÷
//! n₂`. The leaf whose best cut has the greatest gain is cut next, until there are enough leaves.
//! For example, let three bins have 4 rows each and the residual sums 4, 4 and −8. A cut after bin
//! 1 gains 16 ÷ 4 + 16 ÷ 8 = 6, and a cut after bin 2 gains 64 ÷ 8 + 64 ÷ 4 = 24. A tree of two
//! leaves is therefore cut after bin 2, and the steps of the three bins are 1, 1 and −2.

use std::ops::Range;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Sum of residuals and number of rows in a bin or leaf.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Sum {
    pub residual: f64,
    pub rows: f64,
}

impl Sum {
    pub fn plus(self, other: Sum) -> Sum {
        Sum {
            residual: self.residual + other.residual,
            rows: self.rows + other.rows,
        }
    }

    pub fn minus(self, other: Sum) -> Sum {
        Sum {
            residual: self.residual - other.residual,
            rows: self.rows - other.rows,
        }
    }

    /// The decrease in the sum of squares if the mean residual is the prediction for each row:
    /// (Σr)² ÷ n.
    pub fn gain(self) -> f64 {
        if self.rows > 0.0 {
            self.residual * self.residual / self.rows
        } else {
            0.0
        }
    }

    pub fn mean(self) -> f64 {
        if self.rows > 0.0 {
            self.residual / self.rows
        } else {
            0.0
        }
    }
}

/// The limits of a step's tree: the maximum number of leaves, and the minimum number of rows in a
/// leaf.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tree {
    pub leaves: usize,
    pub least: f64,
}

/// Weight, in rows, of a prior that pulls the mean residual of a category towards 0 before
/// categories are sorted. Without this prior, rare categories would often come first or last by
/// chance.
const PRIOR_ROWS: f64 = 10.0;

/// The bins of a feature. Each step grows a new tree on them, for the current residuals.
pub(super) struct Curve {
    /// Number of training rows in each bin.
    rows: Vec<f64>,
    tree: Tree,
    /// Whether neighbouring bins are similar. Otherwise the bins are categories, which are first
    /// sorted by their mean residuals. When categories are sorted by mean, the best division into
    /// two groups is a cut between neighbours (Fisher, 1958).
    ordered: bool,
    /// All bins except the bin for missing values, in the order in which they are cut.
    order: Vec<usize>,
    /// Prefix sums over the bins in that order: entry k sums the first k bins.
    before: Vec<Sum>,
}

impl Curve {
    /// Prepares the bins of a feature. `rows` holds the number of training rows in each bin.
    pub fn new(rows: Vec<f64>, tree: Tree, ordered: bool) -> Self {
        Curve {
            order: (1..rows.len()).collect(),
            before: Vec::with_capacity(rows.len()),
            rows,
            tree,
            ordered,
        }
    }

    /// Computes the step of each bin, which is the mean residual of the bin's leaf. `residuals`
    /// holds the sum of the residuals in each bin. The leaves come from a random tree if a random
    /// number generator is given, and from the best tree otherwise. Bin 0, for missing values, is a
    /// separate leaf; its step is 0 if it has too few rows.
    pub fn step(&mut self, residuals: &[f64], random: Option<&mut ChaCha8Rng>, steps: &mut [f64]) {
        let sum = |bin: usize| Sum {
            residual: residuals[bin],
            rows: self.rows[bin],
        };
        let missing = sum(0);
        steps[0] = if missing.rows >= self.tree.least {
            missing.mean()
        } else {
            0.0
        };
        if !self.ordered {
            let rank = |bin: usize| residuals[bin] / (self.rows[bin] + PRIOR_ROWS);
            // Ties are broken by the index of the bin.
            self.order
                .sort_unstable_by(|&a, &b| rank(a).total_cmp(&rank(b)).then(a.cmp(&b)));
        }
        let mut all = Sum::default();
        self.before.clear();
        self.before.push(all);
        self.before.extend(self.order.iter().map(|&bin| {
            all = all.plus(sum(bin));
            all
        }));
        let leaves = match random {
            None => grow(&self.before, self.tree),
            Some(random) => draw(&self.before, self.tree, random),
        };
        for leaf in leaves {
            let mean = self.before[leaf.end].minus(self.before[leaf.start]).mean();
            for &bin in &self.order[leaf] {
                steps[bin] = mean;
            }
        }
    }
}

/// Cuts the bins at random. As many cuts are drawn as a tree with the maximum number of leaves has.
/// A cut is left out if a leaf next to it would have too few rows. `before` holds the prefix sums
/// of the bins.
fn draw(before: &[Sum], tree: Tree, random: &mut ChaCha8Rng) -> Vec<Range<usize>> {
    let end = before.len() - 1;
    let most = tree.leaves.min(end);
    let mut cuts: Vec<usize> = (1..most).map(|_| random.random_range(1..end)).collect();
    cuts.sort_unstable();
    let rows = |start: usize, end: usize| before[end].rows - before[start].rows;
    let mut start = 0;
    let mut leaves = Vec::with_capacity(most);
    for cut in cuts {
        if rows(start, cut) >= tree.least && rows(cut, end) >= tree.least {
            leaves.push(start..cut);
            start = cut;
        }
    }
    leaves.push(start..end);
    leaves
}

/// A leaf: the bins from `start` (inclusive) to `end` (exclusive), with their best cut and its
/// gain. If no cut gains anything, `gain` is 0.
struct Leaf {
    start: usize,
    end: usize,
    cut: usize,
    gain: f64,
}

/// Repeatedly cuts the leaf whose best cut has the greatest gain, until there are enough leaves or
/// no cut gains anything. `before` holds the prefix sums of the bins.
fn grow(before: &[Sum], tree: Tree) -> Vec<Range<usize>> {
    let mut leaves = vec![best_cut(before, 0, before.len() - 1, tree.least)];
    while leaves.len() < tree.leaves {
        let best = (0..leaves.len()).reduce(|a, b| {
            if leaves[b].gain > leaves[a].gain {
                b
            } else {
                a
            }
        });
        let Some(best) = best.filter(|&best| leaves[best].gain > 0.0) else {
            break;
        };
        let Leaf {
            start, end, cut, ..
        } = leaves[best];
        leaves[best] = best_cut(before, start, cut, tree.least);
        leaves.push(best_cut(before, cut, end, tree.least));
    }
    leaves
        .into_iter()
        .map(|leaf| leaf.start..leaf.end)
        .collect()
}

fn best_cut(before: &[Sum], start: usize, end: usize, least: f64) -> Leaf {
    let whole = before[end].minus(before[start]);
    let mut leaf = Leaf {
        start,
        end,
        cut: start,
        gain: 0.0,
    };
    // A gain must exceed the rounding error, because otherwise a leaf of equal residuals could be
    // cut.
    let mut best = whole.gain() * (1.0 + 1e-12);
    for cut in start + 1..end {
        let left = before[cut].minus(before[start]);
        let right = before[end].minus(before[cut]);
        if left.rows < least {
            continue;
        }
        if right.rows < least {
            break;
        }
        let gain = left.gain() + right.gain();
        if gain > best {
            best = gain;
            leaf.cut = cut;
            leaf.gain = gain - whole.gain();
        }
    }
    leaf
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    /// The steps of bins that are given by their mean residual and their number of rows.
    fn steps(bins: &[(f64, f64)], ordered: bool) -> Vec<f64> {
        let rows = bins.iter().map(|(_, rows)| *rows).collect();
        let residuals: Vec<f64> = bins.iter().map(|(mean, rows)| mean * rows).collect();
        let mut curve = Curve::new(rows, TREE, ordered);
        let mut steps = vec![f64::NAN; bins.len()];
        curve.step(&residuals, None, &mut steps);
        // The second step on the same residuals equals the first.
        let again = steps.clone();
        curve.step(&residuals, None, &mut steps);
        assert_eq!(again, steps);
        steps
    }

    const TREE: Tree = Tree {
        leaves: 3,
        least: 2.0,
    };

    #[test]
    fn three_levels_get_three_leaves_and_empty_bins_their_neighbours() {
        let bins = [
            (9.0, 1.0),
            (1.0, 5.0),
            (0.0, 0.0),
            (1.0, 5.0),
            (4.0, 5.0),
            (-2.0, 5.0),
        ];
        assert_eq!(steps(&bins, true), [0.0, 1.0, 1.0, 1.0, 4.0, -2.0]);
    }

    #[test]
    fn categories_are_grouped_by_what_they_have_in_common() {
        let bins = [
            (3.0, 2.0),
            (1.0, 50.0),
            (5.0, 50.0),
            (1.0, 50.0),
            (5.0, 50.0),
            (9.0, 50.0),
        ];
        assert_eq!(steps(&bins, false), [3.0, 1.0, 5.0, 1.0, 5.0, 9.0]);
    }

    /// Every random leaf has enough rows and gets its own mean as its step, and every cut is drawn
    /// eventually.
    #[test]
    fn drawn_leaves_are_large_enough_and_have_their_means() {
        let (rows, residuals) = ([0.0, 3.0, 1.0, 2.0, 4.0], [0.0, 3.0, 5.0, -4.0, 8.0]);
        let mut curve = Curve::new(rows.to_vec(), TREE, true);
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let mut steps = vec![f64::NAN; rows.len()];
            curve.step(&residuals, Some(&mut random), &mut steps);
            let mut leaves: Vec<Vec<usize>> = vec![vec![1]];
            for bin in 2..rows.len() {
                match leaves.last_mut().filter(|_| steps[bin] == steps[bin - 1]) {
                    Some(leaf) => leaf.push(bin),
                    None => leaves.push(vec![bin]),
                }
            }
            assert!(leaves.len() <= TREE.leaves);
            for leaf in &leaves {
                let sum = |of: &[f64]| leaf.iter().map(|&bin| of[bin]).sum::<f64>();
                assert!(sum(&rows) >= TREE.least, "{leaves:?}");
                assert_eq!(steps[leaf[0]], sum(&residuals) / sum(&rows), "{leaves:?}");
            }
            seen.insert(leaves);
        }
        // There are three trees with one cut: after bin 1, 2 or 3. There are two trees with two
        // cuts: after bins 1 and 3, and after bins 2 and 3. Cuts after bins 1 and 2 would make a
        // leaf of bin 2 alone, which has only one row.
        assert_eq!(seen.len(), 5, "{seen:?}");
    }

    #[test]
    fn small_leaves_and_constants_are_not_cut() {
        let alone = [(0.0, 0.0), (7.0, 1.0), (1.0, 9.0)];
        assert_eq!(steps(&alone, true), [0.0, 1.6, 1.6]);
        let constant = [(0.0, 0.0), (0.1, 3.0), (0.1, 7.0), (0.1, 13.0)];
        let found = steps(&constant, true);
        assert!(found[1..].iter().all(|step| (step - 0.1).abs() < 1e-15));
        assert_eq!(steps(&[(2.0, 4.0)], true), [2.0]);
    }
}
