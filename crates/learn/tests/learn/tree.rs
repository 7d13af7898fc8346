//! Compares decision trees with an exhaustive search.

use gleaner_learn::tree::{Settings, Tree, TreeError};
use gleaner_learn::{Column, Table};
use proptest::prelude::*;

type Rows = Vec<(Vec<f64>, u8)>;

fn table(rows: &Rows) -> (Table, Vec<u8>) {
    let features = rows.first().map_or(0, |(values, _)| values.len());
    let column = |index: usize| rows.iter().map(|(values, _)| values[index]).collect();
    let columns = (0..features).map(|index| (format!("x{index}"), Column::Numeric(column(index))));
    let labels = rows.iter().map(|(_, label)| *label).collect();
    (Table::new(columns.collect()).unwrap(), labels)
}

fn fit(rows: &Rows, settings: Settings) -> Tree {
    let (table, labels) = table(rows);
    Tree::fit(&table, &labels, settings).unwrap()
}

/// Rows with few distinct values, so that there are ties. Some values are missing.
fn rows(most: usize) -> impl Strategy<Value = Rows> {
    let value = prop_oneof![9 => (0..6i32).prop_map(f64::from), 1 => Just(f64::NAN)];
    let row = (proptest::collection::vec(value, 3), 0..3u8);
    proptest::collection::vec(row, 1..most)
}

/// Gini impurity times the number of rows. Gini impurity is the probability that two rows, drawn
/// with replacement, are of different classes.
fn impurity(rows: &[&(Vec<f64>, u8)]) -> f64 {
    let number = rows.len() as f64;
    let same = |class: u8| rows.iter().filter(|(_, label)| *label == class).count() as f64;
    number - (0..3).map(|class| same(class).powi(2)).sum::<f64>() / number.max(1.0)
}

/// The lowest impurity after any split of rows. It is computed from the definition: every value of
/// every feature is tried as a threshold. Missing values go to the side with more known values, or
/// to the left if both sides have equally many.
fn least_impurity(rows: &[&(Vec<f64>, u8)], min_leaf: usize) -> Option<f64> {
    let mut least: Option<f64> = None;
    for feature in 0..rows[0].0.len() {
        for threshold in rows.iter().map(|(values, _)| values[feature]) {
            let value = |row: &&&(Vec<f64>, u8)| row.0[feature];
            let below = rows.iter().filter(|row| value(row) <= threshold).count();
            let above = rows.iter().filter(|row| value(row) > threshold).count();
            let goes_left = |row: &&&(Vec<f64>, u8)| {
                if value(row).is_nan() {
                    below >= above
                } else {
                    value(row) <= threshold
                }
            };
            let (left, right): (Vec<_>, Vec<_>) = rows.iter().partition(goes_left);
            if below > 0 && above > 0 && left.len().min(right.len()) >= min_leaf {
                let sum = impurity(&left) + impurity(&right);
                least = Some(least.map_or(sum, |least| least.min(sum)));
            }
        }
    }
    least
}

/// The training rows that reach each node.
fn reaching<'r>(tree: &Tree, rows: &'r Rows) -> Vec<Vec<&'r (Vec<f64>, u8)>> {
    let mut reaching = vec![Vec::new(); tree.nodes().len()];
    for row in rows {
        reaching[0].push(row);
        for step in tree.path(&row.0) {
            reaching[step.next].push(row);
        }
    }
    reaching
}

/// The weighted impurity and the number of leaves of every tree to which the subtree at a node can be pruned.
fn prunings(tree: &Tree, node: usize) -> Vec<(f64, usize)> {
    let root = tree.nodes()[0].rows() as f64;
    let at = &tree.nodes()[node];
    let mut all = vec![(at.impurity * at.rows() as f64 / root, 1)];
    if let Some(split) = &at.split {
        for (cost, leaves) in prunings(tree, split.left) {
            let right = prunings(tree, split.right).into_iter();
            all.extend(right.map(|(c, l)| (cost + c, leaves + l)));
        }
    }
    all
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    #[test]
    fn every_split_is_the_best_and_every_leaf_has_none(
        rows in rows(40), min_leaf in 0..4usize, max_depth in 0..6usize,
    ) {
        let settings = Settings { min_leaf, max_depth: Some(max_depth), ccp_alpha: 0.0 };
        let tree = fit(&rows, settings);
        let depths = tree.depths();
        prop_assert!(tree.depth() <= max_depth);
        for (index, reaching) in reaching(&tree, &rows).iter().enumerate() {
            let node = &tree.nodes()[index];
            prop_assert_eq!(node.rows(), reaching.len());
            prop_assert!((node.impurity * node.rows() as f64 - impurity(reaching)).abs() < 1e-9);
            let least = least_impurity(reaching, min_leaf.max(1));
            match &node.split {
                Some(split) => {
                    let child = |index: usize| {
                        tree.nodes()[index].impurity * tree.nodes()[index].rows() as f64
                    };
                    let found = child(split.left) + child(split.right);
                    prop_assert!((found - least.unwrap()).abs() < 1e-9);
                }
                None => prop_assert!(
                    impurity(reaching) < 1e-9 || depths[index] == max_depth || least.is_none()
                ),
            }
        }
    }

    #[test]
    fn pruning_leaves_the_cheapest_tree_and_the_smallest_of_equals(
        rows in rows(14), alpha in prop_oneof![Just(1e-4), 0.001..0.3f64],
    ) {
        let full = fit(&rows, Settings::default());
        let pruned = fit(&rows, Settings { ccp_alpha: alpha, ..Settings::default() });
        let total = |(cost, leaves): &(f64, usize)| cost + alpha * *leaves as f64;
        let all = prunings(&full, 0);
        let least = all.iter().map(total).fold(f64::INFINITY, f64::min);
        let cheapest = all.iter().filter(|tree| total(tree) < least + 1e-12);
        let fewest = cheapest.map(|(_, leaves)| *leaves).min();
        // The largest tree in `left` is the pruned tree itself.
        let left = prunings(&pruned, 0);
        let own = left.iter().find(|(_, leaves)| *leaves == pruned.leaves()).unwrap();
        prop_assert!(total(own) < least + 1e-9);
        prop_assert_eq!(Some(pruned.leaves()), fewest);
        for (values, _) in &rows {
            let (whole, part) = (full.path(values), pruned.path(values));
            prop_assert!(whole.iter().zip(&part).all(|(a, b)| a.threshold == b.threshold));
        }
    }

    #[test]
    fn importances_are_shares_and_a_saved_tree_is_the_same(rows in rows(30)) {
        let tree = fit(&rows, Settings::default());
        let sum: f64 = tree.importances().iter().sum();
        prop_assert!((sum - 1.0).abs() < 1e-9 || sum == 0.0);
        let saved = serde_json::to_string(&tree).unwrap();
        prop_assert_eq!(serde_json::from_str::<Tree>(&saved).unwrap(), tree);
    }
}

// If rows cannot be split, the tree is a single leaf, which predicts the most frequent class.
#[test]
fn one_row_one_class_and_constant_columns_are_a_leaf() {
    let same = |labels: &[u8]| {
        labels
            .iter()
            .map(|label| (vec![3.0, f64::NAN], *label))
            .collect()
    };
    for (labels, class) in [(&[2u8][..], 2), (&[1, 1, 1], 1), (&[0, 2, 2], 2)] {
        let tree = fit(&same(labels), Settings::default());
        assert_eq!((tree.leaves(), tree.depth()), (1, 0));
        assert_eq!(tree.class(&[7.0, 1.0]), class);
        assert_eq!(tree.importances(), [0.0, 0.0]);
    }
    let tree = fit(&same(&[0, 2, 2, 0]), Settings::default());
    assert_eq!(tree.probabilities(&[1.0, 1.0]), [0.5, 0.0, 0.5]);
    assert_eq!(tree.class(&[1.0, 1.0]), 0);
}

#[test]
fn a_split_without_gain_may_lead_to_one_with_gain() {
    let exclusive = vec![
        (vec![0.0, 0.0], 0),
        (vec![0.0, 1.0], 1),
        (vec![1.0, 0.0], 1),
        (vec![1.0, 1.0], 0),
    ];
    let tree = fit(&exclusive, Settings::default());
    assert!(
        exclusive
            .iter()
            .all(|(values, label)| tree.class(values) == *label)
    );
    // The first split gains nothing. The second and the third split each reduce the impurity of half of the rows from ½
    // to 0. Each therefore has a weighted gain of ½ · ½.
    assert_eq!(tree.importances(), [1.0, 0.0]);
    let alpha = |ccp_alpha| Settings {
        ccp_alpha,
        ..Settings::default()
    };
    // The three additional leaves gain ½ in total.
    assert_eq!(fit(&exclusive, alpha(0.16)).leaves(), 4);
    assert_eq!(fit(&exclusive, alpha(0.17)).leaves(), 1);
}

#[test]
fn huge_values_are_split() {
    let rows = vec![
        (vec![-f64::MAX], 0),
        (vec![f64::MAX], 1),
        (vec![f64::MAX.next_down()], 2),
    ];
    let tree = fit(&rows, Settings::default());
    assert!(
        rows.iter()
            .all(|(values, label)| tree.class(values) == *label)
    );
}

#[test]
fn invalid_training_data_are_refused() {
    let refused = |column: Column, labels: &[u8], ccp_alpha: f64| {
        let table = Table::new(vec![("x".to_owned(), column)]).unwrap();
        let settings = Settings {
            ccp_alpha,
            ..Settings::default()
        };
        Tree::fit(&table, labels, settings).unwrap_err()
    };
    let numbers = |values: &[f64]| Column::Numeric(values.to_vec());
    assert_eq!(refused(numbers(&[]), &[], 0.0), TreeError::NoRows);
    assert_eq!(
        refused(numbers(&[1.0]), &[0, 1], 0.0),
        TreeError::Labels { labels: 2, rows: 1 }
    );
    assert_eq!(refused(numbers(&[1.0]), &[0], -0.1), TreeError::Alpha(-0.1));
    assert_eq!(
        refused(Column::texts([Some("a")]), &[0], 0.0),
        TreeError::Texts("x".to_owned())
    );
    let infinite = refused(numbers(&[1.0, f64::INFINITY]), &[0, 0], 0.0);
    assert!(
        infinite
            .to_string()
            .contains("feature x is infinite in row 1")
    );
}

#[test]
fn a_table_without_a_feature_of_the_tree_is_refused() {
    let tree = fit(
        &vec![(vec![0.0, 5.0], 0), (vec![1.0, 5.0], 1)],
        Settings::default(),
    );
    let columns = |names: [&str; 2]| {
        let column = |name: &str| (name.to_owned(), Column::Numeric(vec![1.0]));
        Table::new(names.map(column).into()).unwrap()
    };
    assert_eq!(tree.predict(&columns(["x1", "x0"])), Ok(vec![1]));
    let error = tree.predict(&columns(["x1", "y"])).unwrap_err();
    assert_eq!(error, TreeError::Missing("x0".to_owned()));
}
