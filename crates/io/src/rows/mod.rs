//! Tables with named columns, from CSV or Parquet. A table can be compressed or part of a tar archive, and can be read
//! from stdin; see [`Source`].
//!
//! A reader requests columns from the [`Header`] by name; [`Header::finish`] then returns the [`Table`]. The order of
//! columns does not matter, and columns that are not requested are ignored. A [`Cell`] is parsed as the expected type.
//! A cell of another type is reported as a fault that states the line or row and the column. CSV is streamed on every
//! visit. For Parquet, the requested columns are kept in memory.
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

pub use crate::fault::Place;
pub use cell::{Cell, CellResult, CellTime, without_zero_fraction};
pub use header::{Col, Header};
pub use row::Row;
pub use table::Table;
