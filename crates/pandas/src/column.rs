//! Converts columns and row labels to plain vectors.

use std::borrow::Cow;
use std::sync::Arc;

use thiserror::Error;

use super::cell::Cell;
use super::frame::Frame;
use super::index::Labels;

/// The reason why a requested column or index cannot be returned.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ColumnError {
    /// There is no such column.
    #[error("there is no column {name:?}; the table has {present}")]
    Missing {
        /// The requested column.
        name: String,
        /// A description of the existing columns.
        present: String,
    },
    /// A value does not have the requested type.
    #[error("column {name:?}, row {row} (counted from 0): expected {expected}, found {found}")]
    Value {
        /// The column that contains the value.
        name: String,
        /// The row of the value, counted from 0.
        row: usize,
        /// A description of the expected type of value.
        expected: &'static str,
        /// A description of the value that was found.
        found: String,
    },
    /// The row labels do not have the requested type.
    #[error("the index holds {found}, expected {expected}; {remedy}")]
    Index {
        /// A description of the expected type of labels.
        expected: &'static str,
        /// A description of the type that was found.
        found: String,
        /// Advice on how to change the table.
        remedy: &'static str,
    },
}

impl<'a> Frame<'a> {
    /// Returns a column of numbers: integers are rounded to the nearest `f64`, true is 1, false is 0, and missing
    /// values are NaN.
    ///
    /// # Errors
    /// There is no such column, or it holds a value that is not a number.
    pub fn column_f64(&self, name: &str) -> Result<Vec<f64>, ColumnError> {
        self.collect(name, "a number", |cell| cell.as_f64())
    }

    /// Returns a column of integers. Floats that are exactly integers are accepted.
    ///
    /// # Errors
    /// There is no such column, or it holds a value that is not a 64-bit
    /// integer.
    pub fn column_i64(&self, name: &str) -> Result<Vec<i64>, ColumnError> {
        self.collect(name, "an integer", |cell| cell.as_i64())
    }

    /// Returns a column of strings.
    ///
    /// # Errors
    /// There is no such column, or it holds a value that is not a string.
    pub fn column_strings(&self, name: &str) -> Result<Vec<String>, ColumnError> {
        self.collect(name, "a string", |cell| cell.as_text().map(str::to_owned))
    }

    /// Returns a column of times in nanoseconds since 1970-01-01, in UTC if the column has a time
    /// zone. A missing time is [`NAT`](super::NAT).
    ///
    /// # Errors
    /// There is no such column, or it holds a value that is not a time in the
    /// years 1678 to 2261.
    pub fn column_datetimes_ns(&self, name: &str) -> Result<Vec<i64>, ColumnError> {
        self.collect(name, "a time", |cell| cell.as_datetime_ns())
    }

    /// Returns a column of lists of numbers. Rows that share a list in the file also share it in
    /// the result.
    ///
    /// # Errors
    /// There is no such column, or it holds a value that is not a list of
    /// numbers.
    pub fn column_lists(&self, name: &str) -> Result<Vec<Arc<[f64]>>, ColumnError> {
        self.collect(name, "a list of numbers", |cell| match cell {
            Cell::Numbers(numbers) => Some(Arc::clone(numbers)),
            _ => None,
        })
    }

    fn collect<T>(
        &self,
        name: &str,
        expected: &'static str,
        value: impl Fn(&Cell<'a>) -> Option<T>,
    ) -> Result<Vec<T>, ColumnError> {
        let position = self.position(name).ok_or_else(|| self.missing(name))?;
        (0..self.rows())
            .map(|row| {
                let cell = self.cell(position, row);
                let found = cell.as_deref().and_then(&value);
                found.ok_or_else(|| ColumnError::Value {
                    name: name.to_owned(),
                    row,
                    expected,
                    found: cell.map_or_else(|| "nothing".into(), |cell| cell.describe()),
                })
            })
            .collect()
    }

    fn missing(&self, name: &str) -> ColumnError {
        const SHOWN: usize = 8;
        let names = self.columns();
        let mut present = match names.len() {
            0 => "no columns".to_owned(),
            count => format!("{count}: {}", names[..count.min(SHOWN)].join(", ")),
        };
        if names.len() > SHOWN {
            present += ", ...";
        }
        let name = name.to_owned();
        ColumnError::Missing { name, present }
    }

    /// Returns the row labels as strings.
    ///
    /// # Errors
    /// A label is not a string.
    pub fn index_strings(&self) -> Result<Vec<&str>, ColumnError> {
        let texts = match self.index() {
            Labels::Cells(cells) => cells.iter().map(Cell::as_text).collect(),
            _ => None,
        };
        texts.ok_or_else(|| self.wrong_index("strings", "df.index = df.index.astype(str)"))
    }

    /// Returns the row labels as times in nanoseconds since 1970-01-01, in UTC if the index has a
    /// time zone. A missing time is [`NAT`](super::NAT).
    ///
    /// # Errors
    /// A label is not a time.
    pub fn index_datetimes_ns(&self) -> Result<Cow<'_, [i64]>, ColumnError> {
        let times = match self.index() {
            Labels::DatetimesNs(times) => Some(Cow::Borrowed(times.as_slice())),
            Labels::Cells(cells) => cells
                .iter()
                .map(Cell::as_datetime_ns)
                .collect::<Option<Vec<_>>>()
                .map(Cow::Owned),
            _ => None,
        };
        times.ok_or_else(|| self.wrong_index("times", "df.index = pd.to_datetime(df.index)"))
    }

    fn wrong_index(&self, expected: &'static str, remedy: &'static str) -> ColumnError {
        ColumnError::Index {
            expected,
            found: self.index().describe().to_owned(),
            remedy,
        }
    }
}
