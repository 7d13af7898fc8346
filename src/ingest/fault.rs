//! Words for faults that several readers find.

use std::fmt;
use std::path::Path;

use super::pickle::{ColumnError, PickleError};
use crate::error::Fault;

/// Where in a file a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A line of a text, from 1.
    Line(u64),
    /// A row of a table without lines, from 0.
    Row(usize),
    /// The header of a table.
    Header,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Row(row) => write!(f, "row {row} (counting from 0)"),
            Place::Header => f.write_str("header"),
        }
    }
}

/// A place in a table without lines.
pub(super) fn row_place(row: usize) -> String {
    format!("row {row} (counting from 0)")
}

/// Bytes of a file as a short text.
pub(super) fn show(bytes: &[u8]) -> String {
    const SHOWN: usize = 40;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]);
    let dots = if bytes.len() > SHOWN { "…" } else { "" };
    match bytes {
        [] => "nothing".to_owned(),
        _ => format!("{text:?}{dots}"),
    }
}

/// A pickle that is no table, or damaged.
pub(super) fn of_pickle(path: &Path, error: &PickleError) -> Fault {
    let found = format!("data that cannot be read ({})", error.problem);
    Fault::of(path, found, "a table pickled by pandas").at(format!("byte {}", error.offset))
}

/// A column of a pickled table that is not what it should be.
pub(super) fn of_column(path: &Path, error: &ColumnError) -> Fault {
    match error {
        ColumnError::Missing { name, present } => {
            let found = format!("no such column among {present}");
            Fault::of(path, found, "the column").field(name.as_str())
        }
        ColumnError::Value {
            name,
            row,
            expected,
            found,
        } => {
            let fault = Fault::of(path, found.as_str(), *expected).field(name.as_str());
            fault.at(row_place(*row))
        }
        ColumnError::Index {
            expected,
            found,
            remedy,
        } => {
            let fault = Fault::of(path, found.as_str(), *expected).field("index");
            fault.remedy(*remedy)
        }
    }
}
