//! The requested columns of a Parquet table, kept in memory.

use super::header::RequestedColumn;
use crate::parquet::{Table, Value};
use crate::source::Source;
use gleaner_domain::Local;
use gleaner_domain::error::Result;

/// The cells of the requested columns, by column and row.
pub(super) struct Held {
    columns: Vec<Vec<Stored>>,
    texts: Texts,
    rows: usize,
}

/// A cell. A string is stored as an index into [`Texts`].
#[derive(Debug, Clone, Copy)]
enum Stored {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(u32),
    Time(Option<Local>),
}

/// All strings of a table, concatenated.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// Maximum number of rows in a file of this many bytes. The rows of a table of jobs or profiles
/// differ from each other, so a writer needs more than 1/16 byte per row. A larger number of rows
/// means that the file is damaged.
fn max_rows(file: u64) -> u64 {
    (1 << 16) + file.saturating_mul(16)
}

impl Held {
    /// Decodes the requested columns.
    pub fn read(source: &Source, table: &Table<'_>, requested: &[RequestedColumn]) -> Result<Self> {
        if table.rows() as u64 > max_rows(source.id().length) {
            let found = format!("{} rows in {} bytes", table.rows(), source.id().length);
            return Err(source.fault(found, "a valid Parquet file").into());
        }
        let mut texts = Texts::default();
        let columns = requested.iter().map(|requested| {
            let mut cells = Vec::new();
            table.visit(&table.columns()[requested.at], |_, value| {
                let cell = texts
                    .store(value)
                    .ok_or_else(|| source.fault("more than 4 billion strings", "a smaller file"))?;
                cells.push(cell);
                Ok(())
            })?;
            Ok(cells)
        });
        Ok(Held {
            columns: columns.collect::<Result<_>>()?,
            texts,
            rows: table.rows(),
        })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The cell in this row of the requested column with index `column`.
    pub fn value(&self, column: usize, row: usize) -> Value<'_> {
        match self.columns[column][row] {
            Stored::Null => Value::Null,
            Stored::Bool(value) => Value::Bool(value),
            Stored::Int(value) => Value::Int(value),
            Stored::Float(value) => Value::Float(value),
            Stored::Text(index) => Value::Text(self.texts.get(index)),
            Stored::Time(value) => Value::Time(value),
        }
    }
}

impl Texts {
    /// Stores a value. Returns `None` if there are too many strings.
    fn store(&mut self, value: Value<'_>) -> Option<Stored> {
        Some(match value {
            Value::Null | Value::Empty => Stored::Null,
            Value::Bool(value) => Stored::Bool(value),
            Value::Int(value) => Stored::Int(value),
            // pandas writes NaN for a missing number, and `i64::MIN` (below) for a missing time.
            Value::Float(value) if value.is_nan() => Stored::Null,
            Value::Float(value) => Stored::Float(value),
            Value::Time(Some(Local(i64::MIN))) => Stored::Null,
            Value::Time(value) => Stored::Time(value),
            Value::Text(text) => match text.trim_ascii() {
                [] => Stored::Null,
                text => Stored::Text(self.push(text)?),
            },
        })
    }

    fn push(&mut self, text: &[u8]) -> Option<u32> {
        let index = u32::try_from(self.ends.len()).ok()?;
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        Some(index)
    }

    fn get(&self, index: u32) -> &[u8] {
        let index = index as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }
}
