//! A step for one feature: a regression tree of few leaves on a histogram of residuals.

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

    /// What the squares lose when all rows get their mean: (Σr)² ÷ n.
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

/// Shape of the trees.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tree {
    pub leaves: usize,
    pub least: f64,
}

/// Rows with which a category is drawn to the mean before categories are put in order, so that
/// rare ones do not come first and last by chance.
const PRIOR_ROWS: f64 = 10.0;

/// The step of each bin: the mean residual of its leaf. Bin 0, of missing values, is a leaf of
/// its own, if it has rows enough. `ordered`: whether neighbours are alike; categories are
/// brought into the order of their residuals first (Fisher, 1958).
pub(super) fn step(bins: &[Sum], tree: Tree, ordered: bool) -> Vec<f64> {
    let mut steps = vec![0.0; bins.len()];
    if bins[0].rows >= tree.least {
        steps[0] = bins[0].mean();
    }
    if ordered {
        grow(&bins[1..], tree, |leaf, mean| steps[1..][leaf].fill(mean));
    } else {
        let mut order: Vec<usize> = (1..bins.len()).collect();
        let rank = |bin: usize| bins[bin].residual / (bins[bin].rows + PRIOR_ROWS);
        order.sort_by(|&a, &b| rank(a).total_cmp(&rank(b)));
        let sorted: Vec<Sum> = order.iter().map(|&bin| bins[bin]).collect();
        grow(&sorted, tree, |leaf, mean| {
            order[leaf].iter().for_each(|&bin| steps[bin] = mean);
        });
    }
    steps
}

/// Bins from `start` to before `end`, and their best cut.
struct Leaf {
    start: usize,
    end: usize,
    cut: usize,
    gain: f64,
}

/// Cuts where it gains most, until there are leaves enough or nothing is gained.
fn grow(bins: &[Sum], tree: Tree, mut put: impl FnMut(std::ops::Range<usize>, f64)) {
    let mut before = Vec::with_capacity(bins.len() + 1);
    let mut sum = Sum::default();
    before.push(sum);
    before.extend(bins.iter().map(|&bin| {
        sum = sum.plus(bin);
        sum
    }));
    let mut leaves = vec![best_cut(&before, 0, bins.len(), tree.least)];
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
        leaves[best] = best_cut(&before, start, cut, tree.least);
        leaves.push(best_cut(&before, cut, end, tree.least));
    }
    for leaf in leaves {
        put(
            leaf.start..leaf.end,
            before[leaf.end].minus(before[leaf.start]).mean(),
        );
    }
}

/// `before`: sums of all bins before each.
fn best_cut(before: &[Sum], start: usize, end: usize, least: f64) -> Leaf {
    let whole = before[end].minus(before[start]);
    let mut leaf = Leaf {
        start,
        end,
        cut: start,
        gain: 0.0,
    };
    // What is lost to rounding is no gain.
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

    fn sums(means: &[(f64, f64)]) -> Vec<Sum> {
        let sum = |&(mean, rows)| Sum {
            residual: mean * rows,
            rows,
        };
        means.iter().map(sum).collect()
    }

    const TREE: Tree = Tree {
        leaves: 3,
        least: 2.0,
    };

    #[test]
    fn three_levels_get_three_leaves_and_empty_bins_their_neighbours() {
        let bins = sums(&[
            (9.0, 1.0),
            (1.0, 5.0),
            (0.0, 0.0),
            (1.0, 5.0),
            (4.0, 5.0),
            (-2.0, 5.0),
        ]);
        let steps = step(&bins, TREE, true);
        assert_eq!(steps, [0.0, 1.0, 1.0, 1.0, 4.0, -2.0]);
    }

    #[test]
    fn categories_are_grouped_by_what_they_have_in_common() {
        let bins = sums(&[
            (3.0, 2.0),
            (1.0, 50.0),
            (5.0, 50.0),
            (1.0, 50.0),
            (5.0, 50.0),
            (9.0, 50.0),
        ]);
        let steps = step(&bins, TREE, false);
        assert_eq!(steps, [3.0, 1.0, 5.0, 1.0, 5.0, 9.0]);
    }

    #[test]
    fn small_leaves_and_constants_are_not_cut() {
        let alone = sums(&[(0.0, 0.0), (7.0, 1.0), (1.0, 9.0)]);
        assert_eq!(step(&alone, TREE, true), [0.0, 1.6, 1.6]);
        let constant = sums(&[(0.0, 0.0), (0.1, 3.0), (0.1, 7.0), (0.1, 13.0)]);
        let steps = step(&constant, TREE, true);
        assert!(steps[1..].iter().all(|step| (step - 0.1).abs() < 1e-15));
        assert_eq!(step(&sums(&[(2.0, 4.0)]), TREE, true), [2.0]);
    }
}
