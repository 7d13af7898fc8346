//! Messages for faults that several readers find.

use std::fmt;
use std::path::Path;

use super::input::Unit;
use super::pickle::{ColumnError, PickleError};
use gleaner_core::error::Fault;

/// A place in a file, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A line of a text, from 1.
    Line(u64),
    /// A line of a text and a character in it, both from 1.
    Column(usize, usize),
    /// A byte of the file, from 0.
    Byte(usize),
    /// A part of a log, from 1.
    Part(Unit, u64),
    /// The header of a table.
    Header,
    /// A row of a table that has no lines, such as Parquet, from 0.
    Row(usize),
    /// A column that holds the states of a node, from 0.
    NodeColumn(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Column(line, column) => write!(f, "line {line}, column {column}"),
            Place::Byte(byte) => write!(f, "byte {byte}"),
            Place::Part(unit, number) => write!(f, "{unit} {number}"),
            Place::Header => f.write_str("header"),
            Place::Row(row) => write!(f, "row {row} (counting from 0)"),
            Place::NodeColumn(column) => write!(f, "node column {column} (counting from 0)"),
        }
    }
}

impl From<Place> for String {
    fn from(place: Place) -> String {
        place.to_string()
    }
}

/// Where JSON is malformed; empty if the error has no place in the text.
pub(super) fn of_json(error: &serde_json::Error) -> String {
    match error.line() {
        0 => String::new(),
        line => Place::Column(line, error.column()).into(),
    }
}

/// The start of these bytes as text, for messages.
pub(super) fn show(bytes: &[u8]) -> String {
    const SHOWN: usize = 40;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]);
    let dots = if bytes.len() > SHOWN { "…" } else { "" };
    match bytes {
        [] => "nothing".to_owned(),
        _ => format!("{text:?}{dots}"),
    }
}

/// The fault of a pickle that is damaged or does not hold a table.
pub(super) fn of_pickle(path: &Path, error: &PickleError) -> Fault {
    let found = format!("data that cannot be read ({})", error.problem);
    Fault::of(path, found, "a table pickled by pandas").at(Place::Byte(error.offset))
}

/// The fault of a column of a pickled table that is missing or holds unexpected values.
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
            fault.at(Place::Row(*row))
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
