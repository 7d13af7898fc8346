//! Result tables, and their bytes as CSV and Parquet.

use std::borrow::Cow;

use crate::domain::Time;

mod csv;
mod parquet;

/// A column of a result table.
#[derive(Debug, Clone)]
pub enum Column<'a> {
    /// Times; missing ones are empty cells.
    Times(Vec<Option<Time>>),
    /// Times, none missing.
    EveryTime(Vec<Time>),
    /// Numbers written with six decimals, as the original's `%f`.
    Fixed(Vec<f64>),
    /// Numbers written as short as they can be read back; missing ones are empty cells.
    Floats(Vec<Option<f64>>),
    /// Whole numbers.
    Integers(Vec<u64>),
    /// Texts.
    Texts(Vec<Cow<'a, str>>),
    /// Texts drawn from a few names: `names[indices[row]]`.
    Names {
        /// The names.
        names: Vec<&'a str>,
        /// One index into `names` a row.
        indices: Vec<u32>,
    },
}

/// A named table; all columns are equally long.
#[derive(Debug, Clone)]
pub struct Table<'a> {
    /// File name without extension.
    pub name: &'static str,
    /// Column names with their columns, in order.
    pub columns: Vec<(&'static str, Column<'a>)>,
}

impl Column<'_> {
    fn len(&self) -> usize {
        match self {
            Column::Times(v) => v.len(),
            Column::EveryTime(v) => v.len(),
            Column::Fixed(v) => v.len(),
            Column::Floats(v) => v.len(),
            Column::Integers(v) => v.len(),
            Column::Texts(v) => v.len(),
            Column::Names { indices, .. } => indices.len(),
        }
    }
}

impl Table<'_> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }
}
