//! One row of a table.

use csv::ByteRecord;

use super::Place;
use super::cell::Cell;
use super::header::{Col, Wanted};
use super::parquet::Held;
use crate::ingest::parquet::Value;
use crate::ingest::source::Source;

/// A row.
#[derive(Clone, Copy)]
pub(in crate::ingest) struct Row<'r> {
    pub(super) source: &'r Source,
    pub(super) wanted: &'r [Wanted],
    pub(super) place: Place,
    pub(super) cells: Cells<'r>,
}

/// Where a row's cells are.
#[derive(Clone, Copy)]
pub(super) enum Cells<'r> {
    Record(&'r ByteRecord),
    /// Of a table that is held, with the row's number.
    Held(&'r Held, usize),
}

impl<'r> Row<'r> {
    /// Where it is.
    pub fn place(&self) -> Place {
        self.place
    }

    /// A cell, which is missing where it is empty.
    pub fn cell(&self, col: Col) -> Cell<'r> {
        let wanted = &self.wanted[col.index()];
        let value = match self.cells {
            Cells::Held(held, row) => held.value(col.index(), row),
            Cells::Record(record) => match record[wanted.at].trim_ascii() {
                [] => Value::Null,
                text => Value::Text(text),
            },
        };
        Cell {
            source: self.source,
            place: self.place,
            label: &wanted.label,
            value,
        }
    }

    /// The cell of a column that may be missing, where there is one and it is not empty.
    pub fn given(&self, col: Option<Col>) -> Option<Cell<'r>> {
        col.map(|col| self.cell(col))
            .filter(|cell| !cell.is_missing())
    }
}
