//! Grows a tree: each node is divided by its best split, until the leaves are pure.
//!
//! Nodes are created in depth-first order, left before right. The rows of nodes that are yet to be
//! created are kept on a stack, so deep trees need no recursion.

use super::split::{self, Best};
use super::{Node, Settings, Split, TreeError};
use crate::{Column, Table};

/// The training data of a tree.
pub struct Data<'d> {
    /// For each feature, the value of each row.
    pub columns: Vec<&'d [f64]>,
    /// The class of each row.
    pub labels: &'d [u8],
    /// Number of classes: one more than the highest label.
    pub classes: usize,
}

impl<'d> Data<'d> {
    /// Checks that a tree can be grown on a table and labels.
    pub fn check(table: &'d Table, labels: &'d [u8]) -> Result<Self, TreeError> {
        let rows = table.rows();
        if labels.len() != rows {
            let labels = labels.len();
            return Err(TreeError::Labels { labels, rows });
        }
        let highest = labels.iter().max().ok_or(TreeError::NoRows)?;
        let columns = table.names().iter().zip(table.columns());
        let columns = columns.map(|(name, column)| numbers(name, column));
        Ok(Data {
            columns: columns.collect::<Result<_, _>>()?,
            labels,
            classes: usize::from(*highest) + 1,
        })
    }

    /// Number of rows of each class.
    pub fn counts(&self, rows: &[usize]) -> Vec<usize> {
        let mut counts = vec![0; self.classes];
        for &row in rows {
            counts[usize::from(self.labels[row])] += 1;
        }
        counts
    }
}

fn numbers<'d>(name: &str, column: &'d Column) -> Result<&'d [f64], TreeError> {
    let Column::Numeric(values) = column else {
        return Err(TreeError::Texts(name.to_owned()));
    };
    match values.iter().position(|value| value.is_infinite()) {
        Some(row) => Err(TreeError::Infinite {
            feature: name.to_owned(),
            row,
        }),
        None => Ok(values),
    }
}

/// The rows of a node that does not exist yet.
struct Open {
    rows: Vec<usize>,
    depth: usize,
    /// The node whose right child this will be; `None` for the root and for left children, which
    /// directly follow their parents.
    right_of: Option<usize>,
}

/// Grows a tree as far as the settings allow. The nodes are in the order of [`super::Tree::nodes`].
pub fn grow(data: &Data<'_>, settings: Settings) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut open = vec![Open {
        rows: (0..data.labels.len()).collect(),
        depth: 0,
        right_of: None,
    }];
    while let Some(next) = open.pop() {
        let index = nodes.len();
        if let Some(split) = next.right_of.and_then(|of| nodes[of].split.as_mut()) {
            split.right = index;
        }
        let counts = data.counts(&next.rows);
        let best = seek(data, &next, &counts, settings);
        if let Some(best) = &best {
            let [left, right] = part(data, best, next.rows);
            let depth = next.depth + 1;
            let child = |rows, right_of| Open {
                rows,
                depth,
                right_of,
            };
            open.push(child(right, Some(index)));
            open.push(child(left, None));
        }
        nodes.push(Node {
            split: best.map(|best| best.at(index)),
            impurity: gini(&counts),
            counts,
        });
    }
    nodes
}

/// The best split of a node; `None` if the node is pure, at the maximum depth, or cannot be split.
fn seek(data: &Data<'_>, open: &Open, counts: &[usize], settings: Settings) -> Option<Best> {
    let pure = counts.contains(&open.rows.len());
    let deep = settings.max_depth.is_some_and(|most| open.depth >= most);
    if pure || deep {
        return None;
    }
    split::best(data, &open.rows, counts, settings.min_leaf.max(1))
}

/// Divides the rows of a node between its left and its right child.
fn part(data: &Data<'_>, best: &Best, rows: Vec<usize>) -> [Vec<usize>; 2] {
    let values = data.columns[best.feature];
    let split = best.at(0);
    let (left, right) = rows
        .into_iter()
        .partition(|&row| split.goes_left(values[row]));
    [left, right]
}

impl Best {
    /// The split of node `index`. The left child is the next node.
    fn at(&self, index: usize) -> Split {
        Split {
            feature: self.feature,
            threshold: self.threshold,
            missing_left: self.missing_left,
            left: index + 1,
            // A placeholder, which is replaced when the right child is created.
            right: index + 1,
        }
    }
}

/// Gini impurity, from the number of rows of each class. For example, 3 rows of one class and 1 of
/// another have the impurity 1 − (¾)² − (¼)² = 0.375.
pub fn gini(counts: &[usize]) -> f64 {
    let rows: usize = counts.iter().sum();
    let squares: f64 = counts.iter().map(|&count| (count as f64).powi(2)).sum();
    1.0 - squares / (rows as f64).powi(2)
}
