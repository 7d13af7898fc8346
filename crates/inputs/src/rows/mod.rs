//! Typed rows of input tables. [`Rows`] finds the columns of a declared type in a header and reads the rows.

mod declared;
mod kind;

pub(crate) use declared::{Cells, InputRow, Line, Rows, input};
pub use declared::{InputColumn, Need};
pub(crate) use kind::{
    Clock, Diverging, Filled, Flag, Id, Kind, Later, Maybe, Number, OneOf, Or, Text, Whole,
};
