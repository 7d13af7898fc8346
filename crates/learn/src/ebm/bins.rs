//! Maps values to bins. Bin 0 is for missing values and for strings that were not seen in training.
//! The other bins are in ascending order for numbers, and in the order of first appearance for
//! strings.

use serde::{Deserialize, Serialize};

use super::settings::{Binning, MOST_BINS};
use crate::table::{Categories, Column};

/// A feature and its bins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Feature {
    /// Name of the feature, which is the name of its column in the training table.
    pub name: String,
    /// The mapping from the values of the feature to bins.
    pub bins: Bins,
    /// Number of training rows in each bin.
    pub rows: Vec<u32>,
}

/// Bins of a feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bins {
    /// Bins of numbers. Cuts are numbered from 1. Bin k ≥ 1 holds the numbers from cut k−1
    /// (inclusive) to cut k (exclusive). With the cuts 3 and 5, for example, bin 2 holds the numbers x with 3 ≤ x < 5.
    Numeric {
        /// The bounds between neighbouring bins, ascending.
        cuts: Vec<f64>,
        /// The smallest value seen in training; 0 if there were no values.
        least: f64,
        /// The largest value seen in training; 0 if there were no values.
        greatest: f64,
    },
    /// Bins of strings. Bin k ≥ 1 holds level k−1.
    Categorical {
        /// The strings seen in training.
        levels: Vec<String>,
    },
}

impl Bins {
    /// Bins for a column; `None` if it has more distinct strings than [`MOST_BINS`]. If the column holds numbers, there
    /// are at most `most` bins, in addition to the bin for missing values.
    pub(super) fn of(column: &Column, binning: Binning, most: usize) -> Option<Self> {
        match column {
            Column::Numeric(values) => Some(Bins::numeric(values, binning, most)),
            Column::Categorical(texts) if texts.levels().len() > MOST_BINS => None,
            Column::Categorical(texts) => Some(Bins::Categorical {
                levels: texts.levels().to_vec(),
            }),
        }
    }

    fn numeric(values: &[f64], binning: Binning, most: usize) -> Self {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let (Some(&least), Some(&greatest)) = (sorted.first(), sorted.last()) else {
            return Bins::Numeric {
                cuts: Vec::new(),
                least: 0.0,
                greatest: 0.0,
            };
        };
        let cuts = match binning {
            Binning::Quantile => quantiles(&sorted, most),
            Binning::Uniform => uniform(least, greatest, most),
        };
        Bins::Numeric {
            cuts,
            least,
            greatest,
        }
    }

    /// Number of bins, including the bin for missing values.
    pub fn len(&self) -> usize {
        match self {
            Bins::Numeric { cuts, .. } => cuts.len() + 2,
            Bins::Categorical { levels } => levels.len() + 1,
        }
    }

    /// Always `false`, because there is always a bin for missing values.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The bin of each row of a column; `None` if the column holds strings and the bins are for
    /// numbers, or vice versa.
    pub(super) fn index(&self, column: &Column) -> Option<Vec<u16>> {
        match (self, column) {
            (Bins::Numeric { cuts, .. }, Column::Numeric(values)) => {
                Some(values.iter().map(|&value| number(cuts, value)).collect())
            }
            (Bins::Categorical { levels }, Column::Categorical(texts)) => {
                Some(categories(levels, texts))
            }
            _ => None,
        }
    }

    /// The label of a bin, such as `3 to 4.5` or a category; `missing` for bin 0.
    pub fn label(&self, bin: usize) -> String {
        match (self, bin.checked_sub(1)) {
            (_, None) => "missing".to_owned(),
            (Bins::Categorical { levels }, Some(level)) => levels[level].clone(),
            (Bins::Numeric { .. }, Some(_)) => self.range(bin, bin),
        }
    }

    /// The label of the numeric bins from `first` to `last` together, such as `3 to 4.5`. For strings, the label of bin
    /// `first`.
    pub(super) fn range(&self, first: usize, last: usize) -> String {
        let Bins::Numeric { cuts, .. } = self else {
            return self.label(first);
        };
        let below = first.checked_sub(2).and_then(|cut| cuts.get(cut));
        let above = last.checked_sub(1).and_then(|cut| cuts.get(cut));
        match (below, above) {
            (None, None) => "any".to_owned(),
            (None, Some(above)) => format!("below {}", brief(*above)),
            (Some(below), None) => format!("{} and above", brief(*below)),
            (Some(below), Some(above)) => format!("{} to {}", brief(*below), brief(*above)),
        }
    }
}

/// Rounds a cut to six decimals. A cut that would become 0 is not rounded.
fn brief(cut: f64) -> f64 {
    let scaled = (cut * 1e6).round() / 1e6;
    if scaled == 0.0 { cut } else { scaled }
}

/// The bin of a number; infinite numbers count as missing.
fn number(cuts: &[f64], value: f64) -> u16 {
    if value.is_finite() {
        1 + cuts.partition_point(|&cut| cut <= value) as u16
    } else {
        0
    }
}

fn categories(levels: &[String], texts: &Categories) -> Vec<u16> {
    let known: std::collections::BTreeMap<&str, u16> = levels
        .iter()
        .enumerate()
        .map(|(k, level)| (level.as_str(), k as u16 + 1))
        .collect();
    let bins: Vec<u16> = texts
        .levels()
        .iter()
        .map(|text| known.get(text.as_str()).copied().unwrap_or(0))
        .collect();
    let bin = |code: &Option<u32>| code.map_or(0, |code| bins[code as usize]);
    texts.codes().iter().map(bin).collect()
}

/// The midpoint of `a` and `b`, or `b` if the midpoint would be rounded to `a`.
fn between(a: f64, b: f64) -> f64 {
    let middle = a / 2.0 + b / 2.0;
    if middle > a { middle } else { b }
}

/// Cuts that put about the same number of values into each of `most` bins. If there are at most
/// `most` distinct values, each value gets its own bin.
fn quantiles(sorted: &[f64], most: usize) -> Vec<f64> {
    let mut distinct = sorted.to_vec();
    distinct.dedup();
    if distinct.len() <= most {
        return distinct.windows(2).map(|w| between(w[0], w[1])).collect();
    }
    let mut cuts: Vec<f64> = Vec::with_capacity(most - 1);
    for k in 1..most {
        let Some(cut) = nearest_change(sorted, k * sorted.len() / most) else {
            continue;
        };
        if cuts.last().is_none_or(|&last| last < cut) {
            cuts.push(cut);
        }
    }
    cuts
}

/// The cut between two different values that is nearest to the index `at`; `None` if all values are
/// equal.
fn nearest_change(sorted: &[f64], at: usize) -> Option<f64> {
    let value = sorted[at];
    let first = sorted.partition_point(|&x| x < value);
    let end = sorted.partition_point(|&x| x <= value);
    let change = match (first > 0, end < sorted.len()) {
        (true, false) => first,
        (false, true) => end,
        (true, true) if at - first <= end - at => first,
        (true, true) => end,
        (false, false) => return None,
    };
    Some(between(sorted[change - 1], sorted[change]))
}

/// Equidistant cuts, which make bins of equal width.
fn uniform(least: f64, greatest: f64, bins: usize) -> Vec<f64> {
    let step = greatest / bins as f64 - least / bins as f64;
    let mut cuts: Vec<f64> = (1..bins).map(|k| least + step * k as f64).collect();
    cuts.retain(|&cut| cut > least && cut <= greatest);
    cuts.dedup();
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cuts(values: &[f64], binning: Binning, most: usize) -> Vec<f64> {
        match Bins::numeric(values, binning, most) {
            Bins::Numeric { cuts, .. } => cuts,
            Bins::Categorical { .. } => unreachable!(),
        }
    }

    #[test]
    fn few_values_are_cut_between_any_two() {
        assert_eq!(
            cuts(&[3.0, 1.0, 1.0, 2.0], Binning::Quantile, 8),
            [1.5, 2.5]
        );
        assert_eq!(cuts(&[5.0; 4], Binning::Quantile, 8), [0.0; 0]);
        assert_eq!(cuts(&[0.0, 8.0], Binning::Uniform, 4), [2.0, 4.0, 6.0]);
        assert_eq!(cuts(&[7.0, 7.0], Binning::Uniform, 4), [0.0; 0]);
    }

    #[test]
    fn a_frequent_value_gets_its_own_bin() {
        let mut values = vec![0.0; 90];
        values.extend((1..=10).map(f64::from));
        let bins = Bins::numeric(&values, Binning::Quantile, 4);
        let index = bins.index(&Column::Numeric(vec![
            0.0,
            0.4,
            1.0,
            10.0,
            f64::NAN,
            f64::INFINITY,
        ]));
        assert_eq!(index, Some(vec![1, 1, 2, 2, 0, 0]));
    }

    #[test]
    fn unseen_texts_count_as_missing_and_kinds_must_agree() {
        let column = Column::texts([Some("a"), Some("b")]);
        let bins = Bins::of(&column, Binning::Quantile, 8);
        let other = Column::texts([Some("c"), None, Some("b")]);
        assert_eq!(
            bins.as_ref().and_then(|b| b.index(&other)),
            Some(vec![0, 0, 2])
        );
        assert_eq!(
            bins.and_then(|b| b.index(&Column::Numeric(vec![1.0]))),
            None
        );
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        #[test]
        fn cuts_ascend_and_equal_values_stay_together(
            values in proptest::collection::vec(prop_oneof![-3..3i32, -1000..1000i32], 1..200),
            most in 2..40usize, uniform in any::<bool>(),
        ) {
            let values: Vec<f64> = values.into_iter().map(|x| f64::from(x) / 7.0).collect();
            let binning = if uniform { Binning::Uniform } else { Binning::Quantile };
            let cuts = cuts(&values, binning, most);
            prop_assert!(cuts.len() < most);
            prop_assert!(cuts.windows(2).all(|w| w[0] < w[1]));
            let mut sorted = values;
            sorted.sort_by(f64::total_cmp);
            prop_assert!(sorted.is_sorted_by_key(|&x| number(&cuts, x)));
            if !uniform {
                // With quantile cuts, every bin contains at least one row.
                let used: std::collections::BTreeSet<u16> =
                    sorted.iter().map(|&x| number(&cuts, x)).collect();
                prop_assert_eq!(used.len(), cuts.len() + 1);
            }
        }
    }
}
