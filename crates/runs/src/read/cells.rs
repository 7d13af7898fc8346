//! Reads individual columns of a run's tables, cell by cell, for tables that are too large for
//! memory.

use super::files::RunFiles;
use super::info::RunInfo;
use gleaner_domain::error::Result;
use gleaner_io::delimited::Records;
use gleaner_io::parquet;
use gleaner_io::parquet::Value;
use gleaner_io::source::Source;

/// A cell of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// An empty cell.
    Missing,
    /// A whole number.
    Whole(i64),
    /// A number.
    Number(f64),
    /// Text, or a value of another type as text.
    Text(&'a str),
}

impl RunInfo {
    /// Whether the run wrote a file with this name.
    pub fn has(&self, file: &str) -> bool {
        RunFiles::of(self).has(file)
    }

    /// Number of rows of a table.
    ///
    /// # Errors
    /// The file is not listed in `run.json`, is missing, is damaged or has changed.
    pub fn rows(&self, table: &str) -> Result<usize> {
        let source = RunFiles::of(self).open(&format!("{table}.parquet"))?;
        Ok(parquet::Table::open(&source)?.rows())
    }

    /// Calls `each` with the row index and the value of every cell of a column, in order. Returns whether the table has
    /// the column.
    ///
    /// # Errors
    /// The file is not listed in `run.json`, is missing, is damaged or has changed.
    pub fn visit(
        &self,
        table: &str,
        column: &str,
        mut each: impl FnMut(usize, Cell<'_>),
    ) -> Result<bool> {
        let source: Source = RunFiles::of(self).open(&format!("{table}.parquet"))?;
        let table = parquet::Table::open(&source)?;
        let Some(column) = table.column(column) else {
            return Ok(false);
        };
        table.visit(column, |row, value| {
            match value {
                Value::Null => each(row, Cell::Missing),
                Value::Int(number) => each(row, Cell::Whole(number)),
                Value::Float(number) => each(row, Cell::Number(number)),
                Value::Text(text) => each(row, Cell::Text(&String::from_utf8_lossy(text))),
                other => each(row, Cell::Text(&other.to_string())),
            }
            Ok(())
        })?;
        Ok(true)
    }

    /// Calls `each` with every line of a CSV file, numbered from 0: the header, then the rows.
    ///
    /// # Errors
    /// The file is not listed in `run.json`, is missing, is damaged or has changed.
    pub fn visit_csv(&self, file: &str, mut each: impl FnMut(usize, &[&str])) -> Result<()> {
        let source = RunFiles::of(self).open(file)?;
        let mut records = Records::open(&source)?;
        let mut record = records.header.clone();
        for line in 0.. {
            let cells: Vec<_> = record.iter().map(String::from_utf8_lossy).collect();
            let cells: Vec<&str> = cells.iter().map(|cell| &**cell).collect();
            each(line, &cells);
            if records.next(&mut record)?.is_none() {
                break;
            }
        }
        Ok(())
    }
}
