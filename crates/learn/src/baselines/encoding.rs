//! Converts tables to columns of numbers, because the libraries accept only numbers.

use std::collections::BTreeMap;

use crate::ebm::Mismatch;
use crate::table::{Categories, Column, Table};

/// Columns of numbers. NaN marks a missing value; no value is infinite.
pub(super) struct Matrix {
    pub columns: Vec<Vec<f64>>,
    pub rows: usize,
}

/// The rule that converts the features of a table to numbers. It is learnt from the training table.
pub(super) struct Encoding {
    features: Vec<(String, Kind)>,
}

enum Kind {
    Numbers,
    /// The number assigned to each string of the training rows.
    Texts(BTreeMap<String, f64>),
}

/// The number assigned to strings that do not occur in the training rows.
const UNSEEN: f64 = -1.0;

impl Encoding {
    /// Learns the encoding from the training rows.
    pub fn learn(table: &Table) -> Self {
        let kind = |column: &Column| match column {
            Column::Numeric(_) => Kind::Numbers,
            Column::Categorical(categories) => Kind::Texts(codes(categories)),
        };
        let features = table.names().iter().zip(table.columns());
        Encoding {
            features: features
                .map(|(name, column)| (name.clone(), kind(column)))
                .collect(),
        }
    }

    /// Converts a table, which must have the features of the training table in the same order.
    pub fn encode(&self, table: &Table) -> Result<Matrix, Mismatch> {
        let names = || self.features.iter().map(|(name, _)| name);
        if !names().eq(table.names()) {
            return Err(Mismatch::Features {
                expected: names().cloned().collect(),
                found: table.names().to_vec(),
            });
        }
        let features = self.features.iter().zip(table.columns());
        let columns: Result<Vec<Vec<f64>>, Mismatch> = features
            .map(|((name, kind), column)| {
                kind.encode(column).ok_or_else(|| Mismatch::Kind {
                    name: name.clone(),
                    expected: kind.name(),
                })
            })
            .collect();
        Ok(Matrix {
            columns: columns?,
            rows: table.rows(),
        })
    }
}

/// Numbers the strings, from 0, in the order of their first appearance in the rows.
fn codes(categories: &Categories) -> BTreeMap<String, f64> {
    let mut codes = BTreeMap::new();
    for level in categories.codes().iter().flatten() {
        let text = &categories.levels()[*level as usize];
        if !codes.contains_key(text) {
            codes.insert(text.clone(), codes.len() as f64);
        }
    }
    codes
}

impl Kind {
    fn name(&self) -> &'static str {
        match self {
            Kind::Numbers => "numbers",
            Kind::Texts(_) => "strings",
        }
    }

    /// Converts a column to numbers; `None` if it holds strings where numbers are expected, or vice
    /// versa.
    fn encode(&self, column: &Column) -> Option<Vec<f64>> {
        match (self, column) {
            (Kind::Numbers, Column::Numeric(values)) => {
                let known = |value: &f64| if value.is_finite() { *value } else { f64::NAN };
                Some(values.iter().map(known).collect())
            }
            (Kind::Texts(codes), Column::Categorical(categories)) => {
                let code = |text: &String| codes.get(text).copied().unwrap_or(UNSEEN);
                let by_level: Vec<f64> = categories.levels().iter().map(code).collect();
                let value = |code: &Option<u32>| code.map_or(f64::NAN, |k| by_level[k as usize]);
                Some(categories.codes().iter().map(value).collect())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(x: &[f64], texts: &[Option<&str>]) -> Table {
        let columns = vec![
            ("x".to_owned(), Column::Numeric(x.to_vec())),
            ("t".to_owned(), Column::texts(texts.iter().copied())),
        ];
        Table::new(columns).unwrap()
    }

    #[test]
    fn texts_are_numbered_by_first_appearance_in_training() {
        let all = [Some("z"), Some("b"), None, Some("a"), Some("b")];
        let whole = table(&[1.0, 2.0, f64::INFINITY, 4.0, 5.0], &all);
        // The first row is not used for training, so the encoding has not seen z, although z is a
        // level of the table's column.
        let encoding = Encoding::learn(&whole.take(&[1, 2, 3, 4]));
        let rows = encoding.encode(&whole).unwrap();
        assert_eq!(rows.columns[1][..2], [-1.0, 0.0]);
        assert!(rows.columns[1][2].is_nan() && rows.columns[0][2].is_nan());
        assert_eq!(rows.columns[1][3..], [1.0, 0.0]);
        assert_eq!(rows.columns[0][3..], [4.0, 5.0]);
    }

    #[test]
    fn other_features_are_refused() {
        let encoding = Encoding::learn(&table(&[1.0], &[Some("a")]));
        let fewer = table(&[1.0], &[None]).select(|name| name == "x");
        assert!(matches!(
            encoding.encode(&fewer),
            Err(Mismatch::Features { .. })
        ));
        let numbers = |name: &str| (name.to_owned(), Column::Numeric(vec![0.0]));
        let other = Table::new(vec![numbers("x"), numbers("t")]).unwrap();
        let refused = encoding.encode(&other).err().map(|error| error.to_string());
        assert!(refused.is_some_and(|words| words.contains("feature t was trained on strings")));
    }
}
