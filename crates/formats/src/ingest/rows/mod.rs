//! Tables with named columns, from CSV or Parquet. Either can be compressed, in a tar archive, or
//! come from stdin, as [`Source`] reads it.
//!
//! An input table has rows of a declared type: [`Rows`] finds the columns of the type in the header
//! and reads the rows. A reader of a run's tables asks the [`Header`] for columns by name;
//! [`Header::finish`] then returns the [`Table`]. The order of columns does not matter, and columns
//! that nobody asks for are ignored. A [`Cell`] is parsed as the expected type; otherwise it is a
//! fault that names the line or row and the column. CSV is streamed on every visit. Of Parquet, the
//! requested columns are held in memory.
//!
//! [`Source`]: super::source::Source

mod cell;
mod declared;
mod header;
mod kind;
mod number;
mod parquet;
mod row;
mod table;
#[cfg(test)]
mod tests;

pub(super) use super::fault::Place;
pub(super) use cell::{Cell, CellResult, CellTime, without_zero_fraction};
pub(super) use declared::{Cells, InputRow, Line, Rows, input};
pub use declared::{InputColumn, Need};
pub(super) use header::{Col, Header};
pub(super) use kind::{
    Clock, Diverging, Filled, Flag, Id, Kind, Later, Maybe, Number, OneOf, Or, Text, Whole,
};
pub(super) use row::Row;
