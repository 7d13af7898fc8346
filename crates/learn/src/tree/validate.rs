//! Measures how well trees predict rows that they were not grown on.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::{Settings, Tree, TreeError};
use crate::Table;
use crate::metrics::accuracy;

/// Grows a tree on the rows with the indices `train`, and predicts the classes of the rows with the indices `test`. A
/// row can be in both lists.
///
/// # Errors
/// Same as [`Tree::fit`].
///
/// # Panics
/// A row is not in the table or has no label.
pub fn held_out(
    table: &Table,
    labels: &[u8],
    [train, test]: [&[usize]; 2],
    settings: Settings,
) -> Result<Vec<u8>, TreeError> {
    let known: Vec<u8> = train.iter().map(|&row| labels[row]).collect();
    let tree = Tree::fit(&table.take(train), &known, settings)?;
    tree.predict(&table.take(test))
}

/// Predicts the class of each row with a tree grown on all other rows.
///
/// # Errors
/// Same as [`Tree::fit`], or the table has only one row, so no row is left to learn from.
pub fn leave_one_out(
    table: &Table,
    labels: &[u8],
    settings: Settings,
) -> Result<Vec<u8>, TreeError> {
    check(table, labels)?;
    let mut predicted = Vec::with_capacity(labels.len());
    for row in 0..labels.len() {
        let others: Vec<usize> = (0..labels.len()).filter(|other| *other != row).collect();
        predicted.extend(held_out(table, labels, [&others, &[row]], settings)?);
    }
    Ok(predicted)
}

/// Settings for random splits of the rows into training and test rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Splits {
    /// Number of splits.
    pub number: usize,
    /// Share of test rows. The number of test rows is rounded up.
    pub test_share: f64,
    /// Seed of the random choice. The same seed gives the same splits.
    pub seed: u64,
}

/// Returns the accuracy on the test rows of each random split.
///
/// # Errors
/// Same as [`Tree::fit`], or the splits leave no rows to learn from.
pub fn random_splits(
    table: &Table,
    labels: &[u8],
    settings: Settings,
    splits: Splits,
) -> Result<Vec<f64>, TreeError> {
    check(table, labels)?;
    let mut rng = ChaCha8Rng::seed_from_u64(splits.seed);
    let mut rows: Vec<usize> = (0..labels.len()).collect();
    let test_rows = (splits.test_share * rows.len() as f64).ceil() as usize;
    let mut accuracies = Vec::with_capacity(splits.number);
    for _ in 0..splits.number {
        rows.shuffle(&mut rng);
        let (test, train) = rows.split_at(test_rows.min(rows.len()));
        let predicted = held_out(table, labels, [train, test], settings)?;
        let truth: Vec<u8> = test.iter().map(|&row| labels[row]).collect();
        accuracies.push(accuracy(&truth, &predicted));
    }
    Ok(accuracies)
}

fn check(table: &Table, labels: &[u8]) -> Result<(), TreeError> {
    let (labels, rows) = (labels.len(), table.rows());
    if labels == rows {
        return Ok(());
    }
    Err(TreeError::Labels { labels, rows })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Column;

    fn steps(rows: u8) -> (Table, Vec<u8>) {
        let values = (0..rows).map(f64::from).collect();
        let table = Table::new(vec![("x".to_owned(), Column::Numeric(values))]).unwrap();
        (table, (0..rows).map(|row| row / 10).collect())
    }

    // If a row next to a threshold is left out, the threshold moves half a step towards it, but
    // stays between the classes. The first and the last row are not next to a threshold.
    #[test]
    fn a_row_left_out_is_predicted_by_its_neighbours() {
        let (table, labels) = steps(30);
        let predicted = leave_one_out(&table, &labels, Settings::default()).unwrap();
        let wrong: Vec<usize> = (0..30)
            .filter(|&row| predicted[row] != labels[row])
            .collect();
        // Without row 10, the threshold between 9 and 11 is 10, and a value at the threshold goes
        // left.
        assert_eq!(wrong, [10, 20]);
    }

    #[test]
    fn random_splits_are_those_of_their_seed() {
        let (table, labels) = steps(30);
        let splits = |seed| {
            let splits = Splits {
                number: 50,
                test_share: 0.3,
                seed,
            };
            random_splits(&table, &labels, Settings::default(), splits).unwrap()
        };
        assert_eq!(splits(1), splits(1));
        assert_ne!(splits(1), splits(2));
        // Each accuracy is a multiple of 1/9, because nine rows are tested. Most predictions are
        // correct.
        let ninths = |accuracy: &f64| (accuracy * 9.0 - (accuracy * 9.0).round()).abs() < 1e-9;
        assert!(splits(3).iter().all(ninths) && splits(3).iter().sum::<f64>() > 40.0);
    }

    #[test]
    fn too_few_rows_are_refused() {
        let (table, labels) = steps(1);
        let one = leave_one_out(&table, &labels, Settings::default());
        assert_eq!(one, Err(TreeError::NoRows));
        let splits = Splits {
            number: 1,
            test_share: 0.3,
            seed: 0,
        };
        let one = random_splits(&table, &labels, Settings::default(), splits);
        assert_eq!(one, Err(TreeError::NoRows));
        let missing = leave_one_out(&table, &[], Settings::default());
        assert_eq!(missing, Err(TreeError::Labels { labels: 0, rows: 1 }));
    }
}
