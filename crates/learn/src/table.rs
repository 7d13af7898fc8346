//! Tables of features.

use std::collections::BTreeSet;

/// A table of features: named columns of equal length, in a fixed order.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    names: Vec<String>,
    columns: Vec<Column>,
    rows: usize,
}

/// The values of one feature, one for each row.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Numbers; NaN marks a missing value.
    Numeric(Vec<f64>),
    /// Strings, which have no order.
    Categorical(Categories),
}

/// The strings of a column. Each distinct string is stored once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Categories {
    levels: Vec<String>,
    codes: Vec<Option<u32>>,
}

/// The reason why columns cannot form a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// The columns have different lengths.
    #[error("column {name} has {found} rows, but the first column has {expected}")]
    Length {
        /// Name of the column.
        name: String,
        /// Number of rows in the column.
        found: usize,
        /// Number of rows in the first column.
        expected: usize,
    },
    /// Two columns have this name.
    #[error("two columns are called {0}: rename one")]
    Twice(String),
}

impl Table {
    /// Creates a table from columns of equal length. A table without columns has no rows.
    ///
    /// # Errors
    /// The lengths differ, or a name occurs twice.
    pub fn new(columns: Vec<(String, Column)>) -> Result<Self, TableError> {
        let rows = columns.first().map_or(0, |(_, column)| column.len());
        let mut seen = BTreeSet::new();
        for (name, column) in &columns {
            if column.len() != rows {
                return Err(TableError::Length {
                    name: name.clone(),
                    found: column.len(),
                    expected: rows,
                });
            }
            if !seen.insert(name) {
                return Err(TableError::Twice(name.clone()));
            }
        }
        Ok(Self::known(columns))
    }

    /// Creates a table from columns that are known to have equal lengths and distinct names.
    pub(crate) fn known(columns: Vec<(String, Column)>) -> Self {
        let rows = columns.first().map_or(0, |(_, column)| column.len());
        let (names, columns) = columns.into_iter().unzip();
        Table {
            names,
            columns,
            rows,
        }
    }

    /// Creates a table of numeric features from its rows. The names must be distinct.
    pub(crate) fn of_rows<const N: usize>(names: [&str; N], rows: &[[f64; N]]) -> Self {
        let column = |index: usize| rows.iter().map(|row| row[index]).collect();
        let columns = names.iter().enumerate();
        let columns =
            columns.map(|(index, name)| ((*name).to_owned(), Column::Numeric(column(index))));
        Self::known(columns.collect())
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Names of the features, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The features, in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The feature with this name, if there is one.
    pub fn column(&self, name: &str) -> Option<&Column> {
        let index = self.names.iter().position(|other| other == name)?;
        self.columns.get(index)
    }

    /// Returns this table with numbers in place of strings. The number of a string is its index
    /// among the sorted strings in the same column of `known`. Strings that do not occur in that
    /// column become missing values.
    pub fn numbered(&self, known: &Table) -> Table {
        let number = |(name, column): (&String, &Column)| match (column, known.column(name)) {
            (Column::Categorical(texts), Some(Column::Categorical(known))) => {
                Column::Numeric(texts.places(known))
            }
            _ => column.clone(),
        };
        Table {
            names: self.names.clone(),
            columns: self.names.iter().zip(&self.columns).map(number).collect(),
            rows: self.rows,
        }
    }

    /// Returns a table with the given rows of this table, in the given order. A row can occur more than once.
    ///
    /// # Panics
    /// A row is not in the table.
    pub fn take(&self, rows: &[usize]) -> Table {
        Table {
            names: self.names.clone(),
            columns: self
                .columns
                .iter()
                .map(|column| column.take(rows))
                .collect(),
            rows: rows.len(),
        }
    }

    /// Returns a table with only the features whose names `keep` accepts.
    pub fn select(&self, keep: impl Fn(&str) -> bool) -> Table {
        let kept = self.names.iter().zip(&self.columns);
        let (names, columns) = kept
            .filter(|(name, _)| keep(name))
            .map(|(name, column)| (name.clone(), column.clone()))
            .unzip();
        Table {
            names,
            columns,
            rows: self.rows,
        }
    }
}

impl Column {
    /// A column of strings; `None` marks a missing string.
    pub fn texts<T: AsRef<str>>(values: impl IntoIterator<Item = Option<T>>) -> Self {
        Column::Categorical(values.into_iter().collect())
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Column::Numeric(values) => values.len(),
            Column::Categorical(categories) => categories.codes.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn take(&self, rows: &[usize]) -> Column {
        match self {
            Column::Numeric(values) => {
                Column::Numeric(rows.iter().map(|&row| values[row]).collect())
            }
            Column::Categorical(categories) => Column::Categorical(Categories {
                levels: categories.levels.clone(),
                codes: rows.iter().map(|&row| categories.codes[row]).collect(),
            }),
        }
    }
}

impl Categories {
    /// The distinct strings, in the order of their first appearance.
    pub fn levels(&self) -> &[String] {
        &self.levels
    }

    /// For each row, the index of its string in [`Categories::levels`]; `None` if the string is
    /// missing.
    pub fn codes(&self) -> &[Option<u32>] {
        &self.codes
    }

    /// The index of each row's string among the sorted strings of `known`; NaN if the string does
    /// not occur there.
    fn places(&self, known: &Categories) -> Vec<f64> {
        let mut sorted: Vec<&String> = known.levels.iter().collect();
        sorted.sort_unstable();
        let place = |text: &String| match sorted.binary_search(&text) {
            Ok(place) => place as f64,
            Err(_) => f64::NAN,
        };
        let places: Vec<f64> = self.levels.iter().map(place).collect();
        let codes = self.codes.iter();
        codes
            .map(|code| code.map_or(f64::NAN, |code| places[code as usize]))
            .collect()
    }
}

impl<T: AsRef<str>> FromIterator<Option<T>> for Categories {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(values: I) -> Self {
        let mut index = std::collections::BTreeMap::<String, u32>::new();
        let mut categories = Categories::default();
        for value in values {
            let code = value.map(|text| {
                let text = text.as_ref();
                if let Some(&code) = index.get(text) {
                    return code;
                }
                let code = categories.levels.len() as u32;
                index.insert(text.to_owned(), code);
                categories.levels.push(text.to_owned());
                code
            });
            categories.codes.push(code);
        }
        categories
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept_once_in_the_order_of_their_appearance() {
        let Column::Categorical(column) = Column::texts([Some("b"), None, Some("a"), Some("b")])
        else {
            unreachable!()
        };
        assert_eq!(column.levels(), ["b", "a"]);
        assert_eq!(column.codes(), [Some(0), None, Some(1), Some(0)]);
    }

    #[test]
    fn texts_become_their_places_among_sorted_ones() {
        let table = |texts: &[Option<&str>]| {
            let texts = Column::texts(texts.iter().copied());
            let numbers = Column::Numeric(vec![7.0; texts.len()]);
            Table::known(vec![("user".to_owned(), texts), ("x".to_owned(), numbers)])
        };
        let known = table(&[Some("c"), Some("a"), Some("b")]);
        let found = table(&[Some("b"), None, Some("new"), Some("c")]).numbered(&known);
        let [Column::Numeric(users), Column::Numeric(numbers)] = found.columns() else {
            unreachable!()
        };
        assert_eq!((users[0], users[3]), (1.0, 2.0));
        assert!(users[1].is_nan() && users[2].is_nan());
        assert_eq!(numbers, &[7.0; 4]);
    }

    #[test]
    fn unequal_columns_and_doubled_names_are_refused() {
        let numbers = |n| Column::Numeric(vec![0.0; n]);
        let table = |columns: [(&str, Column); 2]| {
            Table::new(
                columns
                    .map(|(name, column)| (name.to_owned(), column))
                    .into(),
            )
        };
        assert_eq!(
            table([("a", numbers(2)), ("b", numbers(3))]).map_err(|error| error.to_string()),
            Err("column b has 3 rows, but the first column has 2".to_owned())
        );
        assert_eq!(
            table([("a", numbers(2)), ("a", numbers(2))]),
            Err(TableError::Twice("a".to_owned()))
        );
    }

    #[test]
    fn rows_and_features_can_be_chosen() {
        let table = Table::new(vec![
            ("x".to_owned(), Column::Numeric(vec![1.0, 2.0, 3.0])),
            ("y".to_owned(), Column::texts([Some("p"), Some("q"), None])),
        ]);
        let chosen = table.map(|table| table.take(&[2, 0]).select(|name| name == "x"));
        let expected = Table::new(vec![("x".to_owned(), Column::Numeric(vec![3.0, 1.0]))]);
        assert_eq!(chosen, expected);
    }
}
