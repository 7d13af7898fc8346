//! Checks of trees that are read from files.

use serde::Deserialize;

use super::{Node, Tree};

/// A tree as read from a file, before validation.
#[derive(Deserialize)]
pub struct Saved {
    features: Vec<String>,
    classes: usize,
    nodes: Vec<Node>,
}

impl TryFrom<Saved> for Tree {
    type Error = String;

    /// Accepts only valid trees: every node except the root is the child of exactly one earlier
    /// node, and all indices are in range. No row can therefore lead to a missing node or into a
    /// cycle.
    fn try_from(saved: Saved) -> Result<Self, String> {
        if saved.nodes.is_empty() {
            return Err("the tree has no nodes".to_owned());
        }
        let mut parents = vec![0; saved.nodes.len()];
        for (index, node) in saved.nodes.iter().enumerate() {
            check(&saved, index, node).map_err(|found| format!("node {index}: {found}"))?;
            if let Some(split) = &node.split {
                parents[split.left] += 1;
                parents[split.right] += 1;
            }
        }
        match parents.iter().skip(1).position(|parents| *parents != 1) {
            Some(index) => Err(format!(
                "node {} does not have exactly one parent",
                index + 1
            )),
            None => Ok(Tree {
                features: saved.features,
                classes: saved.classes,
                nodes: saved.nodes,
            }),
        }
    }
}

fn check(saved: &Saved, index: usize, node: &Node) -> Result<(), String> {
    let classes = node.counts.len();
    if classes != saved.classes || classes > 256 {
        return Err(format!(
            "it counts the rows of {classes} classes, expected {}",
            saved.classes
        ));
    }
    let add = |sum: usize, count: &usize| sum.checked_add(*count);
    let rows = node.counts.iter().try_fold(0, add);
    if rows.is_none_or(|rows| rows == 0) {
        return Err("its number of rows is 0 or too large".to_owned());
    }
    let Some(split) = &node.split else {
        return Ok(());
    };
    if split.feature >= saved.features.len() {
        return Err(format!(
            "it uses feature {}, which does not exist",
            split.feature
        ));
    }
    let below = index + 1..saved.nodes.len();
    if below.contains(&split.left) && below.contains(&split.right) {
        Ok(())
    } else {
        Err("its children must be later nodes of the tree".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Settings;
    use crate::{Column, Table};

    fn saved() -> String {
        let x = Column::Numeric(vec![0.1, 0.2, 0.7]);
        let table = Table::new(vec![("x".to_owned(), x)]).unwrap();
        let tree = Tree::fit(&table, &[0, 1, 1], Settings::default()).unwrap();
        serde_json::to_string(&tree).unwrap()
    }

    #[test]
    fn a_saved_tree_is_the_same_tree() {
        let tree: Tree = serde_json::from_str(&saved()).unwrap();
        assert_eq!(serde_json::to_string(&tree).unwrap(), saved());
        assert_eq!((tree.class(&[0.15]), tree.class(&[0.16])), (0, 1));
    }

    #[test]
    fn an_invalid_tree_is_refused() {
        let cases = [
            ("\"left\":1", "\"left\":0", "must be later nodes"),
            ("\"right\":2", "\"right\":3", "must be later nodes"),
            (
                "\"right\":2",
                "\"right\":1",
                "does not have exactly one parent",
            ),
            ("\"feature\":0", "\"feature\":1", "which does not exist"),
            ("\"counts\":[1,2]", "\"counts\":[1]", "rows of 1 classes"),
            (
                "\"counts\":[1,0]",
                "\"counts\":[0,0]",
                "its number of rows is 0",
            ),
            (
                "\"nodes\":[",
                "\"nodes\":[],\"x\":[",
                "the tree has no nodes",
            ),
        ];
        for (part, instead, expected) in cases {
            assert!(saved().contains(part), "{part}");
            let text = saved().replacen(part, instead, 1);
            let error = serde_json::from_str::<Tree>(&text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
