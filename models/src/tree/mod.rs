//! Decision trees for classes (CART; Breiman et al., 1984): split by the Gini impurity, pruned by
//! cost and complexity.
//!
//! ```
//! use gleaner_models::{Column, Table, tree::{Settings, Tree}};
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
//! A missing value goes with the larger child, as counted by the rows whose value is known: both
//! while a split is sought, whose impurity counts these rows, and in prediction.

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

/// What a tree may become.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Least gain of a leaf: a subtree stays where it takes away more than this times its leaves
    /// but one, of the impurity as weighted by the share of rows. 0 leaves the tree as grown.
    pub ccp_alpha: f64,
    /// Most splits on the way to a leaf.
    pub max_depth: Option<usize>,
    /// Least rows of a leaf; 0 counts as 1.
    pub min_leaf: usize,
}

impl Default for Settings {
    /// As deep as it takes to part the classes, and not pruned.
    fn default() -> Self {
        Settings {
            ccp_alpha: 0.0,
            max_depth: None,
            min_leaf: 1,
        }
    }
}

/// A tree that tells classes apart by numeric features.
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
    /// How its rows are parted; `None` for a leaf.
    pub split: Option<Split>,
    /// Gini impurity: the probability that two of its rows, drawn with replacement, are of
    /// different classes.
    pub impurity: f64,
    /// Rows of the training data by class.
    pub counts: Vec<usize>,
}

/// How the rows of a node are parted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// Index of the feature.
    pub feature: usize,
    /// Rows whose value is at most this go left: half way between two values.
    pub threshold: f64,
    /// Whether rows whose value is missing go left.
    pub missing_left: bool,
    /// Node of the rows that go left.
    pub left: usize,
    /// Node of the others.
    pub right: usize,
}

impl Node {
    /// Rows of the training data.
    pub fn rows(&self) -> usize {
        self.counts.iter().sum()
    }

    /// The class of most rows, the lower one of equals.
    pub fn class(&self) -> u8 {
        let rows = |class: usize| (self.counts[class], std::cmp::Reverse(class));
        let most = (0..self.counts.len()).max_by_key(|class| rows(*class));
        most.and_then(|class| u8::try_from(class).ok())
            .unwrap_or_default()
    }
}

impl Split {
    /// Whether a value goes left.
    pub fn goes_left(&self, value: f64) -> bool {
        if value.is_nan() {
            self.missing_left
        } else {
            value <= self.threshold
        }
    }

    /// The node that a value leads to.
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
    /// Of splits that are equally good, those by the last feature are taken, and of these the one
    /// with the lowest threshold. Columns whose known values are all equal are never split by.
    ///
    /// # Errors
    /// Where there is no row, not a label for each, a feature of texts, an infinite value, or a
    /// negative `ccp_alpha`.
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

    /// Names of the features, in the order of the values of a row.
    pub fn features(&self) -> &[String] {
        &self.features
    }

    /// Number of classes: one more than the highest label.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The nodes: the root first, and each before its left subtree, which is before its right
    /// one.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Number of leaves.
    pub fn leaves(&self) -> usize {
        let leaf = |node: &&Node| node.split.is_none();
        self.nodes.iter().filter(leaf).count()
    }

    /// Most splits on the way to a leaf.
    pub fn depth(&self) -> usize {
        self.depths().into_iter().max().unwrap_or_default()
    }

    /// By node: splits on the way to it.
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

    /// The class of a row with these values, by feature; NaN is a missing one.
    ///
    /// # Panics
    /// Where the row has fewer values than there are features.
    pub fn class(&self, row: &[f64]) -> u8 {
        self.leaf(row).class()
    }

    /// By class, the share of training rows in the leaf that a row leads to.
    ///
    /// # Panics
    /// As [`class`](Self::class).
    pub fn probabilities(&self, row: &[f64]) -> Vec<f64> {
        let leaf = self.leaf(row);
        let rows = leaf.rows() as f64;
        leaf.counts
            .iter()
            .map(|&count| count as f64 / rows)
            .collect()
    }

    /// The classes of all rows of a table, which may have more features than the tree.
    ///
    /// # Errors
    /// Where a feature of the tree is not in the table, or of texts.
    pub fn predict(&self, table: &Table) -> Result<Vec<u8>, TreeError> {
        let columns = self.columns(table)?;
        let row = |row: usize| columns.iter().map(|values| values[row]).collect::<Vec<_>>();
        let rows = 0..table.rows();
        Ok(rows.map(|index| self.class(&row(index))).collect())
    }

    /// The columns of a table that the tree asks for, in its order.
    fn columns<'t>(&self, table: &'t Table) -> Result<Vec<&'t [f64]>, TreeError> {
        let column = |name: &String| match table.column(name) {
            Some(Column::Numeric(values)) => Ok(values.as_slice()),
            Some(Column::Categorical(_)) => Err(TreeError::Texts(name.clone())),
            None => Err(TreeError::Missing(name.clone())),
        };
        self.features.iter().map(column).collect()
    }

    /// The leaf that a row leads to.
    fn leaf(&self, row: &[f64]) -> &Node {
        let mut node = &self.nodes[0];
        while let Some(split) = &node.split {
            node = &self.nodes[split.next(row[split.feature])];
        }
        node
    }
}
