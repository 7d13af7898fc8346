//! Node prices that minimise an upper bound on the objective.
//!
//! With a price λ_k for each node of class k, the item of each task can be chosen independently. The task takes the
//! item with the greatest profit: the item's gain less the price of its nodes. The bound (Everett 1963; Held and Karp
//! 1971) is
//!
//! D(λ) = Σ_k λ_k N_k + Σ_j max_i (gain_i - λ_k n_i),
//!
//! which is at least the objective of every plan, because a plan pays Σ_k λ_k (used nodes) ≤ Σ_k λ_k N_k. For example,
//! suppose that one class has 3 nodes, and two tasks gain 10 from 2 nodes each. At a price of 5, both tasks have a
//! profit of 0, so D = 15. At a price of 4, D = 12 + 2 · 2 = 16. The best plan gains 10, because only one task fits.
//!
//! The least D is the optimum of a linear program. Each of its columns is a plan that the tasks choose at some prices.
//! The program mixes these plans so that the mix gains the most and uses at most N_k nodes of each class k (Dantzig and
//! Wolfe 1960; the cuts of Kelley 1960 are its dual). The program has K + 1 rows for K classes, so the inverse of its
//! basis is small. The dual prices of the program oscillate at first. The steps therefore alternate: one evaluates D at
//! the dual prices, the next at the midpoint between the dual prices and the best prices so far. A plan enters the
//! basis if it improves the mix. If no plan improves the mix at the dual prices, these prices are optimal.

use crate::reduced::{Item, Reduced};

/// Prices count as optimal if D exceeds the gain of the mix by at most this share of the greatest possible gain.
const TOLERANCE: f64 = 1e-11;
/// Maximum number of evaluations of D. About 20 are usually needed, or about 100 if rescaling is expensive.
const MOST_STEPS: usize = 2_000;
/// Absolute values up to this limit count as zero in the inverse and the mix, in which other values are about 1.
const ZERO: f64 = 1e-12;

/// Prices and their bound.
#[derive(Debug, Clone)]
pub(crate) struct Prices {
    /// The price of a node, by class; at least 0.
    pub prices: Vec<f64>,
    /// D at these prices.
    pub bound: f64,
    /// The mix of plans: the share of each, and the item of each task.
    pub mix: Vec<(f64, Vec<Item>)>,
    /// Number of evaluations of D.
    pub steps: u64,
    /// Whether it is proven that no plan fits into the classes.
    pub is_infeasible: bool,
}

/// The plan that the tasks choose at some prices.
struct Plan {
    /// D at these prices.
    bound: f64,
    gain: f64,
    /// Number of used nodes, by class.
    used: Vec<f64>,
    items: Vec<Item>,
}

/// A column of the basis.
enum Column {
    /// Unused nodes of a class.
    Unused,
    /// The initial column. It uses no nodes, and its gain is a large negative number, the penalty. If it keeps a share
    /// of the mix, either the penalty is too small or there is no plan.
    Artificial,
    Plan(Vec<Item>),
}

/// Finds the prices with the least bound, starting with `first`.
pub(crate) fn find(problem: &Reduced, first: &[f64]) -> Prices {
    Search::new(problem).run(first)
}

struct Search<'p> {
    problem: &'p Reduced,
    /// Number of rows: one row makes the shares of the mix sum to 1, and each class has a row.
    rows: usize,
    /// The inverse of the basis, row by row.
    inverse: Vec<f64>,
    /// The amount of each column of the basis: the share of a plan in the mix, or a number of unused nodes.
    amount: Vec<f64>,
    /// The gain of each column of the basis.
    gain: Vec<f64>,
    basis: Vec<Column>,
    /// A lower bound on the gain of any plan, even if every item has a negative gain.
    least: f64,
}

impl<'p> Search<'p> {
    fn new(problem: &'p Reduced) -> Self {
        let rows = problem.capacity.len() + 1;
        let mut inverse = vec![0.0; rows * rows];
        (0..rows).for_each(|row| inverse[row * rows + row] = 1.0);
        let greatest: Vec<f64> = problem
            .kinds
            .iter()
            .map(|kind| greatest(&kind.hull))
            .collect();
        let most: f64 = problem.kind.iter().map(|kind| greatest[*kind]).sum();
        let mut gain = vec![0.0; rows];
        gain[0] = -10.0 * most.max(f64::MIN_POSITIVE);
        let mut basis: Vec<Column> = (0..rows).map(|_| Column::Unused).collect();
        basis[0] = Column::Artificial;
        let nodes = problem.capacity.iter().map(|nodes| f64::from(*nodes));
        Search {
            problem,
            rows,
            inverse,
            amount: [1.0].into_iter().chain(nodes).collect(),
            gain,
            basis,
            least: -most,
        }
    }

    fn run(mut self, first: &[f64]) -> Prices {
        let mut best = (f64::INFINITY, first.to_vec());
        let mut next = first.to_vec();
        let mut is_middle = true;
        let mut steps = 0;
        for _ in 0..MOST_STEPS {
            steps += 1;
            let plan = self.plan(&next);
            if plan.bound < best.0 {
                best = (plan.bound, next);
            }
            self.improve(plan);
            let (gain, prices) = self.dual();
            // D is at least the gain of any plan.
            if best.0 < 2.0 * self.least || self.is_optimal(best.0 - gain) && !self.punish() {
                break;
            }
            // A plan chosen at the midpoint might not improve the mix. The next step then evaluates D at the dual
            // prices, where a plan that improves the mix is found if one exists.
            is_middle = !is_middle;
            next = if is_middle {
                let both = prices.iter().zip(&best.1);
                both.map(|(price, best)| (price + best) / 2.0).collect()
            } else {
                prices
            };
        }
        Prices {
            is_infeasible: best.0 < 2.0 * self.least,
            bound: best.0,
            prices: best.1,
            mix: self.mix(),
            steps,
        }
    }

    /// Whether a difference between D and the gain of the mix is a rounding error.
    fn is_optimal(&self, difference: f64) -> bool {
        difference <= TOLERANCE * self.least.abs()
    }

    /// Raises the penalty of the artificial column if this column has a share of the mix. Returns `false` if it has no
    /// share, or if the penalty is already large.
    fn punish(&mut self) -> bool {
        let columns = self.basis.iter().zip(&self.amount);
        let held = |(column, share): (&Column, &f64)| {
            matches!(column, Column::Artificial) && *share > 1e-9
        };
        let Some(row) = columns.into_iter().position(held) else {
            return false;
        };
        let is_small = self.gain[row] > 1e9 * self.least;
        if is_small {
            self.gain[row] *= 1000.0;
        }
        is_small
    }

    /// The plan in which each task chooses its best item at these prices.
    fn plan(&self, prices: &[f64]) -> Plan {
        let capacity = self.problem.capacity.iter().zip(prices);
        let mut plan = Plan {
            bound: capacity
                .map(|(nodes, price)| f64::from(*nodes) * price)
                .sum(),
            gain: 0.0,
            used: vec![0.0; prices.len()],
            items: Vec::with_capacity(self.problem.len()),
        };
        let best: Vec<(Item, f64)> = self
            .problem
            .kinds
            .iter()
            .map(|kind| kind.best(prices))
            .collect();
        for kind in &self.problem.kind {
            let (item, profit) = best[*kind];
            plan.bound += profit;
            plan.gain += item.gain;
            if let Some(held) = item.held() {
                plan.used[held.class] += f64::from(held.count);
            }
            plan.items.push(item);
        }
        plan
    }

    /// The gain of the mix, and the price of each class.
    fn dual(&self) -> (f64, Vec<f64>) {
        let mix = self.gain.iter().zip(&self.amount);
        let gain = mix.map(|(gain, amount)| gain * amount).sum();
        // Because of rounding errors, a price may be slightly below 0.
        (
            gain,
            (1..self.rows).map(|row| self.price(row).max(0.0)).collect(),
        )
    }

    /// The dual price of a row. Row 0 makes the shares sum to 1. Each other row limits a class to its capacity.
    fn price(&self, row: usize) -> f64 {
        let column = self.inverse.iter().skip(row).step_by(self.rows);
        self.gain
            .iter()
            .zip(column)
            .map(|(gain, entry)| gain * entry)
            .sum()
    }

    /// Adds a plan to the mix if this improves the mix, and then unused nodes for as long as they improve it.
    fn improve(&mut self, plan: Plan) {
        // The reduced cost of a plan is its gain less its cost at the dual prices, which includes the price of row 0.
        // For example, one task on a class of 3 nodes gains 10 from 2 nodes and 14 from 4. At a price of 2, both items
        // have a profit of 6, and the mix is half of each, with a gain of 12.
        let mut column = vec![1.0];
        column.extend_from_slice(&plan.used);
        let entries = column.iter().enumerate();
        let cost: f64 = entries.map(|(row, entry)| entry * self.price(row)).sum();
        if plan.gain - cost > ZERO * plan.gain.abs().max(cost.abs()) {
            self.pivot(&column, plan.gain, Column::Plan(plan.items));
        }
        // Each pivot improves the mix, so after a few pivots no price is negative.
        for _ in 0..10 * self.rows {
            let most = self
                .gain
                .iter()
                .fold(0.0, |most: f64, gain| most.max(gain.abs()));
            let negative = (1..self.rows).find(|row| self.price(*row) < -ZERO * most);
            let Some(row) = negative else { return };
            let mut column = vec![0.0; self.rows];
            column[row] = 1.0;
            if !self.pivot(&column, 0.0, Column::Unused) {
                return;
            }
        }
    }

    /// Replaces a column of the basis with `column`. Returns `false` if no column can be replaced.
    fn pivot(&mut self, column: &[f64], gain: f64, kind: Column) -> bool {
        let rows = self.rows;
        let entries: Vec<f64> = (0..rows)
            .map(|row| {
                let line = &self.inverse[row * rows..(row + 1) * rows];
                line.iter().zip(column).map(|(a, b)| a * b).sum()
            })
            .collect();
        // Ratio test: the column whose amount reaches 0 first leaves the basis. Among ties, the row with the largest
        // entry is chosen, to limit rounding errors.
        let mut leaving: Option<(f64, usize)> = None;
        for (row, (entry, amount)) in entries.iter().zip(&self.amount).enumerate() {
            if *entry <= 1e-9 {
                continue;
            }
            let ratio = amount.max(0.0) / entry;
            let is_first = leaving.is_none_or(|(least, other)| {
                ratio < least - ZERO || ratio <= least + ZERO && *entry > entries[other]
            });
            if is_first {
                leaving = Some((ratio, row));
            }
        }
        let Some((ratio, leaving)) = leaving else {
            return false;
        };
        for (amount, entry) in self.amount.iter_mut().zip(&entries) {
            *amount -= ratio * entry;
        }
        self.amount[leaving] = ratio;
        let factor = 1.0 / entries[leaving];
        for at in 0..rows {
            self.inverse[leaving * rows + at] *= factor;
        }
        for row in (0..rows).filter(|row| *row != leaving) {
            for at in 0..rows {
                self.inverse[row * rows + at] -= entries[row] * self.inverse[leaving * rows + at];
            }
        }
        self.gain[leaving] = gain;
        self.basis[leaving] = kind;
        true
    }

    fn mix(self) -> Vec<(f64, Vec<Item>)> {
        let shares = self.basis.into_iter().zip(self.amount);
        let plans = shares.filter_map(|(column, share)| match column {
            Column::Plan(items) if share > 1e-9 => Some((share, items)),
            _ => None,
        });
        plans.collect()
    }
}

/// The greatest absolute gain.
fn greatest(items: &[Item]) -> f64 {
    items.iter().map(|item| item.gain.abs()).fold(0.0, f64::max)
}
