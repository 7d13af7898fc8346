//! The cells of a term, with their labels and values.

use serde::Serialize;

use super::bins::Bins;
use super::model::{Axis, Ebm, Term};

/// The maximum number of strings that the label of a group lists. For the remaining strings, the label states only
/// their number.
const NAMED: usize = 3;

/// A cell of a term.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// For each axis, the label of the cell's bins.
    pub bins: Vec<String>,
    /// The score that the cell adds to a prediction.
    pub score: f64,
    /// Standard deviation of the bags' scores.
    pub deviation: f64,
    /// Number of training rows in the cell.
    pub rows: u32,
}

impl Axis {
    /// Number of groups, including the first group, which is for missing values.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The lower bound of a group of bins of numbers. `None` for the group of missing values, the
    /// lowest group of numbers, and groups of strings.
    pub fn begin(&self, bins: &Bins, group: usize) -> Option<f64> {
        let Bins::Numeric { cuts, .. } = bins else {
            return None;
        };
        let first = self
            .groups
            .iter()
            .position(|&of| usize::from(of) == group)?;
        cuts.get(first.checked_sub(2)?).copied()
    }

    /// The label of a group of the feature's bins.
    pub fn label(&self, bins: &Bins, group: usize) -> String {
        let of_group = |&bin: &usize| usize::from(self.groups[bin]) == group;
        let members: Vec<usize> = (0..self.groups.len()).filter(of_group).collect();
        match (bins, members.as_slice()) {
            (_, []) => "none".to_owned(),
            (Bins::Numeric { .. }, [first, .., last]) => bins.range(*first, *last),
            (_, [bin]) => bins.label(*bin),
            (Bins::Categorical { .. }, all) => {
                let named = all.iter().take(NAMED).map(|&bin| bins.label(bin));
                let named = named.collect::<Vec<_>>().join(", ");
                match all.len().saturating_sub(NAMED) {
                    0 => named,
                    more => format!("{named} and {more} more"),
                }
            }
        }
    }
}

impl Ebm {
    /// The labels of the groups along an axis of a term, in order.
    pub fn labels(&self, axis: &Axis) -> Vec<String> {
        let bins = &self.features[axis.feature].bins;
        (0..axis.size)
            .map(|group| axis.label(bins, group))
            .collect()
    }

    /// The cells of a term, in the order of [`Term::scores`].
    pub fn cells(&self, term: &Term) -> Vec<Cell> {
        let labels: Vec<Vec<String>> = term.axes.iter().map(|axis| self.labels(axis)).collect();
        let cell = |place: usize| Cell {
            bins: words(&labels, place),
            score: term.scores[place],
            deviation: term.deviations[place],
            rows: term.rows[place],
        };
        (0..term.scores.len()).map(cell).collect()
    }
}

/// The labels of the cell with index `place`, one per axis. The last axis varies fastest.
fn words(labels: &[Vec<String>], place: usize) -> Vec<String> {
    let mut rest = place;
    let mut words: Vec<String> = labels
        .iter()
        .rev()
        .map(|labels| {
            let word = labels[rest % labels.len()].clone();
            rest /= labels.len();
            word
        })
        .collect();
    words.reverse();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_labelled_by_their_bounds_and_texts_by_name() {
        let numbers = Bins::Numeric {
            cuts: vec![1.0, 0.1 + 0.2 + 1.0, 5.0],
            least: 0.0,
            greatest: 9.0,
        };
        let axis = Axis::coarse(0, &[0, 1, 1, 2, 3]);
        let labels: Vec<String> = (0..4).map(|group| axis.label(&numbers, group)).collect();
        assert_eq!(labels, ["missing", "below 1.3", "1.3 to 5", "5 and above"]);
        let begins: Vec<Option<f64>> = (0..4).map(|group| axis.begin(&numbers, group)).collect();
        assert_eq!(begins, [None, None, Some(0.1 + 0.2 + 1.0), Some(5.0)]);
        let texts = Bins::Categorical {
            levels: ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec(),
        };
        let axis = Axis::coarse(0, &[0, 1, 2, 1, 1, 1]);
        assert_eq!(axis.label(&texts, 1), "a, c, d and 1 more");
        assert_eq!(axis.label(&texts, 2), "b");
    }

    #[test]
    fn the_last_axis_varies_fastest() {
        let labels = [vec!["x", "y"], vec!["1", "2", "3"]];
        let labels = labels.map(|axis| axis.into_iter().map(str::to_owned).collect());
        assert_eq!(words(&labels, 5), ["y", "3"]);
        assert_eq!(words(&labels, 3), ["y", "1"]);
    }
}
