//! What a tree goes by: the way of one row, and what each feature contributes.

use serde::Serialize;

use super::Tree;

/// One question on the way of a row to its leaf.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// The node that asks.
    pub node: usize,
    /// Index of the feature asked for.
    pub feature: usize,
    /// The row's value; NaN where it is missing.
    pub value: f64,
    /// What it is compared with.
    pub threshold: f64,
    /// Whether it goes left: at most the threshold, or missing and sent there.
    pub left: bool,
    /// The node it comes to.
    pub next: usize,
}

impl Tree {
    /// The questions that lead a row to its leaf, from the root on; none in a tree of one leaf.
    ///
    /// # Panics
    /// Where the row has fewer values than there are features.
    pub fn path(&self, row: &[f64]) -> Vec<Step> {
        let mut path = Vec::new();
        let mut node = 0;
        while let Some(split) = self.nodes[node].split {
            let value = row[split.feature];
            let next = split.next(value);
            path.push(Step {
                node,
                feature: split.feature,
                value,
                threshold: split.threshold,
                left: split.goes_left(value),
                next,
            });
            node = next;
        }
        path
    }

    /// By feature, the share of what all splits take away of the impurity, weighted by rows; all
    /// 0 where nothing is taken away.
    pub fn importances(&self) -> Vec<f64> {
        let mut gains = vec![0.0; self.features.len()];
        let weighted = |node: usize| self.nodes[node].impurity * self.nodes[node].rows() as f64;
        for (index, node) in self.nodes.iter().enumerate() {
            if let Some(split) = &node.split {
                gains[split.feature] +=
                    weighted(index) - weighted(split.left) - weighted(split.right);
            }
        }
        let total: f64 = gains.iter().sum();
        if total > 0.0 {
            gains.iter_mut().for_each(|gain| *gain /= total);
        }
        gains
    }
}
