//! Ridge regression (Hoerl and Kennard, 1970) on statistics of graphs: a baseline that models
//! should beat.
//!
//! The weights `w` solve `(Xᵀ X + p n I) w = Xᵀ y`. Here, `X` contains the standardised statistics, `y` contains the
//! labels, `n` is the number of graphs, and `p` is the penalty. The intercept is the weight of a column of ones and has
//! no penalty. For example, suppose that the only statistic has the values -1 and 1, the labels are 1 and 3, and the
//! penalty is 0. The weight is then `Xᵀ y / Xᵀ X`, which is 2 ÷ 2, and the intercept is the mean label, 2.

use gleaner_driple::dataset::Example;
use gleaner_driple::graph::{GroupedGraph, METRICS};

/// Number of statistics of a graph. The first half consists of the logarithms ln(1 + x) of the
/// number of nodes, the number of edges, and the sum, mean and maximum of each feature. The second
/// half consists of the squares of the first half.
const STATISTICS: usize = 2 * BASE;

const BASE: usize = 11;

/// Number of columns: the statistics and the constant 1, whose weight is the intercept.
const COLUMNS: usize = STATISTICS + 1;

/// Penalty on the weights of standardised statistics, per training graph.
const PENALTY: f64 = 1e-3;

/// For each metric, a linear function of a graph's statistics.
pub(super) struct Ridge {
    mean: [f64; STATISTICS],
    deviation: [f64; STATISTICS],
    /// For each statistic, one weight per metric. The last entry contains the intercepts.
    weights: Vec<[f64; METRICS]>,
}

impl Ridge {
    /// Fits the weights to examples; `None` if there are fewer than two examples or if the
    /// equations cannot be solved.
    pub fn fit(examples: &[&Example]) -> Option<Self> {
        if examples.len() < 2 {
            return None;
        }
        let rows: Vec<[f64; STATISTICS]> = examples.iter().map(|e| statistics(&e.graph)).collect();
        let count = rows.len() as f64;
        let mean = std::array::from_fn(|at| rows.iter().map(|row| row[at]).sum::<f64>() / count);
        let deviation = std::array::from_fn(|at: usize| {
            let squares = rows.iter().map(|row| (row[at] - mean[at]).powi(2));
            let spread = (squares.sum::<f64>() / count).sqrt();
            if spread > 1e-9 { spread } else { 1.0 }
        });
        let mut this = Ridge {
            mean,
            deviation,
            weights: Vec::new(),
        };
        let mut left = vec![[0.0; COLUMNS]; COLUMNS];
        let mut right = vec![[0.0; METRICS]; COLUMNS];
        for (row, example) in rows.iter().zip(examples) {
            let row = this.standard(row);
            for (at, value) in row.iter().enumerate() {
                (0..COLUMNS).for_each(|other| left[at][other] += value * row[other]);
                let labels = example.labels.iter().enumerate();
                labels.for_each(|(metric, &y)| right[at][metric] += value * f64::from(y));
            }
        }
        (0..STATISTICS).for_each(|at| left[at][at] += PENALTY * count);
        this.weights = solve(left, right)?;
        Some(this)
    }

    /// Predicts the metrics of a graph.
    pub fn predict(&self, graph: &GroupedGraph) -> [f64; METRICS] {
        let row = self.standard(&statistics(graph));
        std::array::from_fn(|metric| {
            let terms = row.iter().zip(&self.weights);
            terms.map(|(value, weights)| value * weights[metric]).sum()
        })
    }

    /// Standardises statistics: subtracts their mean and divides by their standard deviation.
    /// Appends a 1 for the intercept.
    fn standard(&self, row: &[f64; STATISTICS]) -> [f64; COLUMNS] {
        std::array::from_fn(|at| match at {
            STATISTICS => 1.0,
            _ => (row[at] - self.mean[at]) / self.deviation[at],
        })
    }
}

fn statistics(graph: &GroupedGraph) -> [f64; STATISTICS] {
    let nodes = graph.len() as f64;
    let mut base = [0.0; BASE];
    (base[0], base[1]) = (nodes, graph.edges.len() as f64);
    for feature in 0..3 {
        let values = graph
            .features
            .iter()
            .map(|row| f64::from(row[feature]).max(0.0));
        let sum: f64 = values.clone().sum();
        base[2 + 3 * feature] = sum;
        base[3 + 3 * feature] = sum / nodes.max(1.0);
        base[4 + 3 * feature] = values.fold(0.0, f64::max);
    }
    let base = base.map(f64::ln_1p);
    std::array::from_fn(|at| {
        if at < BASE {
            base[at]
        } else {
            base[at - BASE].powi(2)
        }
    })
}

/// Solves a symmetric positive definite system by elimination; `None` if the matrix is not positive
/// definite.
fn solve(
    mut left: Vec<[f64; COLUMNS]>,
    mut right: Vec<[f64; METRICS]>,
) -> Option<Vec<[f64; METRICS]>> {
    for pivot in 0..COLUMNS {
        let head = left[pivot][pivot];
        if !(head.is_finite() && head > 0.0) {
            return None;
        }
        for row in (0..COLUMNS).filter(|&row| row != pivot) {
            let factor = left[row][pivot] / head;
            let (from, values) = (left[pivot], right[pivot]);
            (0..COLUMNS).for_each(|at| left[row][at] -= factor * from[at]);
            (0..METRICS).for_each(|at| right[row][at] -= factor * values[at]);
        }
    }
    let divided = right.iter().enumerate();
    Some(
        divided
            .map(|(at, row)| row.map(|value| value / left[at][at]))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(nodes: usize) -> Example {
        let graph = GroupedGraph {
            features: vec![[1.0, 1.0, 0.5]; nodes],
            edges: (1..nodes as u32).map(|node| (node - 1, node)).collect(),
        };
        Example {
            name: String::new(),
            labels: [3.0 + 2.0 * (nodes as f32).ln_1p(); METRICS],
            graph,
        }
    }

    // For a graph of `n` nodes, the label is 3 + 2 ln(1 + `n`), and ln(1 + `n`) is one of the
    // statistics.
    #[test]
    fn a_label_linear_in_a_statistic_is_learnt() {
        let examples: Vec<Example> = (2..40).map(example).collect();
        let ridge = Ridge::fit(&examples.iter().collect::<Vec<_>>()).unwrap();
        let told = ridge.predict(&example(25).graph)[7];
        assert!((told - (3.0 + 2.0 * 26_f64.ln())).abs() < 0.01, "{told}");
    }

    #[test]
    fn one_example_is_too_few() {
        assert!(Ridge::fit(&[&example(3)]).is_none());
    }
}
