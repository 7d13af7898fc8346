//! Tables by named columns, from CSV or Parquet, each also gzipped, in a tar archive or,
//! as [`Source`] reads it, from stdin.
//!
//! A reader opens the [`Header`], asks it for its columns by name, and visits the rows of
//! the [`Table`] that [`Header::finish`] returns. Columns stand in any order, and those
//! that nobody asks for are ignored. A [`Cell`] is read as what it should be, or is a
//! fault with its line or row and its column. CSV is read as a stream, as often as the
//! table is visited; of Parquet the columns asked for are held.
//!
//! [`Source`]: super::source::Source

use std::fmt;

use super::fault::row_place;

mod cell;
mod csv;
mod header;
mod number;
mod parquet;
mod row;
mod table;
#[cfg(test)]
mod tests;

pub(super) use cell::{Cell, CellResult, Clock};
pub(super) use header::{Col, Header};
pub(super) use row::Row;
pub(super) use table::Table;

/// Where in a file a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A line of a text, from 1.
    Line(u64),
    /// A row of a table without lines, from 0.
    Row(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Row(row) => f.write_str(&row_place(*row)),
        }
    }
}
