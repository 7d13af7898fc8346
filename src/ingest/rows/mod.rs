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

mod cell;
mod header;
mod number;
mod parquet;
mod row;
mod table;
#[cfg(test)]
mod tests;

pub(super) use super::fault::Place;
pub(super) use cell::{Cell, CellResult, CellTime, without_zero_fraction};
pub(super) use header::{Col, Header};
pub(super) use row::Row;
pub(super) use table::Table;
