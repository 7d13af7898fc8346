//! Result tables as named columns, before they are written to files.

use std::borrow::Cow;

use super::{Field, Record, RunLengths, Spaced};
use crate::Local;

/// A column of a result table.
#[derive(Debug, Clone)]
pub enum Column<'a> {
    /// Times; missing times are empty cells.
    Times(Vec<Option<Local>>),
    /// Times without missing values.
    EveryTime(Vec<Local>),
    /// Numbers written with six decimals, like `%f` in C or Python.
    Fixed(Vec<f64>),
    /// Numbers written with the fewest digits that identify them exactly; missing numbers are empty
    /// cells.
    Floats(Vec<Option<f64>>),
    /// Numbers written as in Python, such as `3.0` for 3; missing numbers are empty cells.
    PythonFloats(Vec<Option<f64>>),
    /// Whole numbers, many of which are equal.
    Integers(Vec<u64>),
    /// Whole numbers, most of which are different.
    Whole(Vec<i64>),
    /// Evenly spaced whole numbers.
    Spaced(Spaced),
    /// Whole numbers; missing numbers are empty cells.
    OptionalWhole(Vec<Option<i64>>),
    /// Strings.
    Texts(Vec<Cow<'a, str>>),
    /// Strings from a small set of names: `names[indices[row]]`.
    Names {
        /// The names.
        names: Vec<&'a str>,
        /// One index into `names` per row.
        indices: Vec<u32>,
    },
    /// Numbers that stay the same for many rows; NaN is written to CSV as an empty cell.
    RepeatedFloats(RunLengths<f64>),
    /// Whole numbers that stay the same for many rows.
    RepeatedIntegers(RunLengths<u64>),
    /// Names that stay the same for many rows.
    RepeatedNames {
        /// The names.
        names: Vec<&'a str>,
        /// Indices into `names`, by row.
        indices: RunLengths<u32>,
    },
}

/// A named table, whose columns all have the same length.
#[derive(Debug, Clone)]
pub struct Table<'a> {
    /// File name without extension.
    pub name: &'a str,
    /// The columns with their names, in order.
    pub columns: Vec<(&'static str, Column<'a>)>,
}

impl Column<'_> {
    fn rows(&self) -> usize {
        match self {
            Column::Times(v) => v.len(),
            Column::EveryTime(v) => v.len(),
            Column::Fixed(v) => v.len(),
            Column::Floats(v) => v.len(),
            Column::PythonFloats(v) => v.len(),
            Column::Integers(v) => v.len(),
            Column::Whole(v) => v.len(),
            Column::Spaced(v) => v.rows(),
            Column::OptionalWhole(v) => v.len(),
            Column::Texts(v) => v.len(),
            Column::Names { indices, .. } => indices.len(),
            Column::RepeatedFloats(v) => v.rows(),
            Column::RepeatedIntegers(v) => v.rows(),
            Column::RepeatedNames { indices, .. } => indices.rows(),
        }
    }
}

impl<'a> Table<'a> {
    /// A table with one row for each record in `rows`.
    pub fn of<R: Record>(name: &'a str, rows: &'a [R]) -> Self {
        Table::named(name, R::FIELDS, R::columns(rows))
    }

    /// A table with these columns, which get the names of `fields` in the same order.
    pub fn named(
        name: &'a str,
        fields: &[Field],
        columns: impl IntoIterator<Item = Column<'a>>,
    ) -> Self {
        let names = fields.iter().map(|field| field.name);
        Table {
            name,
            columns: names.zip(columns).collect(),
        }
    }

    /// Converts the times of this table from UTC to a clock that is `offset` seconds ahead of UTC.
    /// Tables are created with times in UTC.
    #[must_use]
    pub fn at_offset(mut self, offset: i32) -> Self {
        let shift = |time: &mut Local| *time = time.plus_whole(offset.into());
        for (_, column) in &mut self.columns {
            match column {
                Column::Times(times) => times.iter_mut().flatten().for_each(shift),
                Column::EveryTime(times) => times.iter_mut().for_each(shift),
                _ => {}
            }
        }
        self
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.rows())
    }
}
