//! Explains a tree by the path of a single row and by the importance of each feature.

use serde::Serialize;

use super::Tree;

/// One comparison on the path of a row to its leaf.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// Index of the node at which the comparison is made.
    pub node: usize,
    /// Index of the feature whose value is compared.
    pub feature: usize,
    /// The row's value of this feature; NaN if it is missing.
    pub value: f64,
    /// The threshold that the value is compared with.
    pub threshold: f64,
    /// Whether the row goes left. It goes left if its value is at most the threshold, or if its value is missing and
    /// the node sends missing values to the left.
    pub left: bool,
    /// Index of the node that the row goes to next.
    pub next: usize,
}

impl Tree {
    /// Returns the comparisons on the path of a row from the root to its leaf. The path is empty if
    /// the root is a leaf.
    ///
    /// # Panics
    /// The row has fewer values than the tree has features.
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

    /// The importance of each feature: the share of the total decrease in impurity that its splits cause. Each node is
    /// weighted by its number of rows. All importances are 0 if no split decreases the impurity.
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
