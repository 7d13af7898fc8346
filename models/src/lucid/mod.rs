//! What Lucid schedules GPU clusters by (Hu et al., 2023): features of its models, from plain
//! values to [`Table`]s.
//!
//! - [`throughput`]: how many GPU jobs will be submitted in the next ten minutes.

pub mod throughput;

use crate::{Column, Table, TableError};

/// A table of numbers from its rows.
fn numeric<const N: usize>(names: [&str; N], rows: &[[f64; N]]) -> Result<Table, TableError> {
    let column = |index: usize| rows.iter().map(|row| row[index]).collect();
    let columns = names.iter().enumerate();
    let columns = columns.map(|(index, name)| ((*name).to_owned(), Column::Numeric(column(index))));
    Table::new(columns.collect())
}
