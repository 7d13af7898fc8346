//! Decision trees that predict classes (CART; Breiman et al., 1984). Splits are chosen by the Gini
//! impurity, and trees are pruned by cost complexity.
//!
//! ```
//! use gleaner_learn::{Column, Table, tree::{Settings, Tree}};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let height = Column::Numeric(vec![1.0, 2.0, 8.0, 9.0]);
//! let table = Table::new(vec![("height".to_owned(), height)])?;
//! let tree = Tree::fit(&table, &[0, 0, 1, 1], Settings::default())?;
//! assert_eq!(tree.class(&[3.0]), 0);
//! assert_eq!(tree.nodes()[0].split.map(|split| split.threshold), Some(5.0));
//! # Ok(())
//! # }
//! ```
//!
//! A row with a missing value goes to the child that has more training rows with known values. This
//! rule applies to predictions and to the search for a split: the impurity of a split includes the
//! rows with missing values.

mod error;
mod explain;
mod grow;
mod prune;
mod saved;
mod split;
mod text;
pub mod validate;

pub use error::TreeError;
pub use explain::Step;

use serde::{Deserialize, Serialize};

use crate::{Column, Table};

/// Settings that limit the size of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Strength of pruning. A subtree of `n` leaves is kept if it decreases the impurity by more
    /// than `n - 1` times this value. Here, the impurity of each node is weighted by the node's
    /// share of all rows. If this value is 0, the tree is not pruned.
    pub ccp_alpha: f64,
    /// The maximum number of splits on the path to a leaf; `None` for no limit.
    pub max_depth: Option<usize>,
    /// The minimum number of training rows in a leaf; 0 counts as 1.
    pub min_leaf: usize,
}

impl Default for Settings {
    /// Trees of any depth, without pruning.
    fn default() -> Self {
        Settings {
            ccp_alpha: 0.0,
            max_depth: None,
            min_leaf: 1,
        }
    }
}

/// A tree that predicts a class from numeric features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "saved::Saved")]
pub struct Tree {
    features: Vec<String>,
    classes: usize,
    nodes: Vec<Node>,
}

/// A node of a tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// The split of the node's rows between its children; `None` for a leaf.
    pub split: Option<Split>,
    /// Gini impurity: the probability that two of the node's training rows, drawn with replacement,
    /// are of different classes.
    pub impurity: f64,
    /// Number of training rows of each class.
    pub counts: Vec<usize>,
}

/// The rule that divides the rows of a node between its children.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// Index of the feature in [`Tree::features`].
    pub feature: usize,
    /// A row goes left if its value is at most this threshold. The threshold is the midpoint
    /// between two training values.
    pub threshold: f64,
    /// Whether rows with a missing value go left.
    pub missing_left: bool,
    /// Index of the left child.
    pub left: usize,
    /// Index of the right child.
    pub right: usize,
}

impl Node {
    /// Number of training rows.
    pub fn rows(&self) -> usize {
        self.counts.iter().sum()
    }

    /// The most frequent class among the training rows; the lowest class if several are equally
    /// frequent.
    pub fn class(&self) -> u8 {
        let rows = |class: usize| (self.counts[class], std::cmp::Reverse(class));
        let most = (0..self.counts.len()).max_by_key(|class| rows(*class));
        most.and_then(|class| u8::try_from(class).ok())
            .unwrap_or_default()
    }
}

impl Split {
    /// Whether a row with this value goes left; NaN is a missing value.
    pub fn goes_left(&self, value: f64) -> bool {
        if value.is_nan() {
            self.missing_left
        } else {
            value <= self.threshold
        }
    }

    /// Index of the node that a row with this value goes to.
    pub fn next(&self, value: f64) -> usize {
        if self.goes_left(value) {
            self.left
        } else {
            self.right
        }
    }
}

impl Tree {
    /// Grows a tree on numeric features and the class of each row, and prunes it.
    ///
    /// Among equally good splits, splits on the last feature are preferred. Among splits on the
    /// same feature, the lowest threshold is preferred. A feature whose known values are all equal
    /// is never used.
    ///
    /// # Errors
    /// There are no rows, or the numbers of labels and rows differ. A feature holds strings, or a
    /// value is infinite. `ccp_alpha` is negative or not finite.
    pub fn fit(table: &Table, labels: &[u8], settings: Settings) -> Result<Self, TreeError> {
        let data = grow::Data::check(table, labels)?;
        if !settings.ccp_alpha.is_finite() || settings.ccp_alpha < 0.0 {
            return Err(TreeError::Alpha(settings.ccp_alpha));
        }
        let grown = grow::grow(&data, settings);
        Ok(Tree {
            features: table.names().to_vec(),
            classes: data.classes,
            nodes: prune::prune(grown, settings.ccp_alpha),
        })
    }

    /// Names of the features. A row holds its values in this order.
    pub fn features(&self) -> &[String] {
        &self.features
    }

    /// Number of classes: one more than the highest label.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The nodes in depth-first order: the root is first, each node comes before its left subtree,
    /// and the left subtree comes before the right subtree.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Number of leaves.
    pub fn leaves(&self) -> usize {
        let leaf = |node: &&Node| node.split.is_none();
        self.nodes.iter().filter(leaf).count()
    }

    /// The depth of the tree: the greatest number of splits on the path to a leaf.
    pub fn depth(&self) -> usize {
        self.depths().into_iter().max().unwrap_or_default()
    }

    /// For each node, the number of splits on the path to it.
    pub fn depths(&self) -> Vec<usize> {
        let mut depths = vec![0; self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            if let Some(split) = &node.split {
                depths[split.left] = depths[index] + 1;
                depths[split.right] = depths[index] + 1;
            }
        }
        depths
    }

    /// Predicts the class of a row. `row` has a value for each feature; NaN marks a missing value.
    ///
    /// # Panics
    /// The row has fewer values than the tree has features.
    pub fn class(&self, row: &[f64]) -> u8 {
        self.leaf(row).class()
    }

    /// For each class, its share of the training rows in the row's leaf.
    ///
    /// # Panics
    /// Same as [`class`](Self::class).
    pub fn probabilities(&self, row: &[f64]) -> Vec<f64> {
        let leaf = self.leaf(row);
        let rows = leaf.rows() as f64;
        leaf.counts
            .iter()
            .map(|&count| count as f64 / rows)
            .collect()
    }

    /// Predicts the class of each row of a table. The table may have more features than the tree.
    ///
    /// # Errors
    /// The table lacks a feature of the tree, or the column with that name holds strings.
    pub fn predict(&self, table: &Table) -> Result<Vec<u8>, TreeError> {
        let columns = self.columns(table)?;
        let row = |row: usize| columns.iter().map(|values| values[row]).collect::<Vec<_>>();
        let rows = 0..table.rows();
        Ok(rows.map(|index| self.class(&row(index))).collect())
    }

    /// The columns of a table that the tree uses, in the tree's order.
    fn columns<'t>(&self, table: &'t Table) -> Result<Vec<&'t [f64]>, TreeError> {
        let column = |name: &String| match table.column(name) {
            Some(Column::Numeric(values)) => Ok(values.as_slice()),
            Some(Column::Categorical(_)) => Err(TreeError::Texts(name.clone())),
            None => Err(TreeError::Missing(name.clone())),
        };
        self.features.iter().map(column).collect()
    }

    /// The leaf that a row reaches.
    fn leaf(&self, row: &[f64]) -> &Node {
        let mut node = &self.nodes[0];
        while let Some(split) = &node.split {
            node = &self.nodes[split.next(row[split.feature])];
        }
        node
    }
}
