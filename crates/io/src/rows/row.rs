//! One row of a table.

use csv::ByteRecord;

use super::Place;
use super::cell::Cell;
use super::header::{Col, RequestedColumn};
use super::parquet::Held;
use crate::parquet::Value;
use crate::source::Source;

/// One row of a table, with the information that messages need.
#[derive(Clone, Copy)]
pub struct Row<'r> {
    pub(super) source: &'r Source,
    pub(super) requested: &'r [RequestedColumn],
    pub(super) place: Place,
    pub(super) cells: Cells<'r>,
}

/// The storage of a row's cells.
#[derive(Clone, Copy)]
pub(super) enum Cells<'r> {
    Record(&'r ByteRecord),
    /// The row with this index in a table that is kept in memory.
    Held(&'r Held, usize),
}

impl<'r> Row<'r> {
    /// The line or row number, for messages.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The cell of a requested column. An empty cell counts as missing.
    pub fn cell(&self, col: Col) -> Cell<'r> {
        let requested = &self.requested[col.index()];
        let value = match self.cells {
            Cells::Held(held, row) => held.value(col.index(), row),
            Cells::Record(record) => match record[requested.at].trim_ascii() {
                [] => Value::Null,
                text => Value::Text(text),
            },
        };
        Cell {
            source: self.source,
            place: self.place,
            label: &requested.label,
            value,
        }
    }

    /// The cell of an optional column. If the table lacks the column, the cell is empty.
    pub fn cell_or_empty(&self, col: Option<Col>) -> Cell<'r> {
        col.map_or(
            Cell {
                source: self.source,
                place: self.place,
                label: "",
                value: Value::Null,
            },
            |col| self.cell(col),
        )
    }

    /// The cell of an optional column, if the column exists and the cell is not empty.
    pub fn given(&self, col: Option<Col>) -> Option<Cell<'r>> {
        col.map(|col| self.cell(col))
            .filter(|cell| !cell.is_missing())
    }
}
