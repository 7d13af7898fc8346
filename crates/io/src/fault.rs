//! Positions in files and excerpts from files, for the messages of all readers.

use std::fmt;

use crate::input::Unit;

/// A position in a file, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The number of a line in a text file, from 1.
    Line(u64),
    /// The number of a line in a text file, and the number of a column in that line, both from 1.
    Column(usize, usize),
    /// The offset of a byte in the file, from 0.
    Byte(usize),
    /// A part of a log: its kind, and its number, from 1.
    Part(Unit, u64),
    /// The header of a table.
    Header,
    /// The index of a row in a table without lines, such as Parquet, from 0.
    Row(usize),
    /// The index of a column with the states of a node, from 0.
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

/// The position of malformed JSON; empty if the error has no position in the
/// text.
pub fn of_json(error: &serde_json::Error) -> String {
    match error.line() {
        0 => String::new(),
        line => Place::Column(line, error.column()).into(),
    }
}

/// Formats the beginning of `bytes` as text, for messages.
pub fn show(bytes: &[u8]) -> String {
    const SHOWN: usize = 40;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]);
    let dots = if bytes.len() > SHOWN { "…" } else { "" };
    match bytes {
        [] => "nothing".to_owned(),
        _ => format!("{text:?}{dots}"),
    }
}
