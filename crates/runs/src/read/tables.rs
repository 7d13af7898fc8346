//! Reads the tables of a run of any command.

use std::path::Path;

use gleaner_domain::Local;
use gleaner_domain::error::{Fault, Result};
use gleaner_domain::results::Column;

use super::files::RunFiles;
use super::info::RunInfo;
use gleaner_io::parquet;
use gleaner_io::parquet::Value;
use gleaner_io::source::Source;

/// A table of a run.
#[derive(Debug, Clone)]
pub struct StoredTable {
    /// The file's name without its extension.
    pub name: String,
    /// The columns with their names, in order.
    pub columns: Vec<(String, Column<'static>)>,
}

/// Reads the `run.json` of a run directory of any command.
///
/// # Errors
/// The directory is not a run directory, or the run did not finish.
pub fn info(dir: &Path) -> Result<RunInfo> {
    RunInfo::read(dir)
}

impl RunInfo {
    /// Names of the run's tables, which are the names of its Parquet files without the extension.
    pub fn tables(&self) -> impl Iterator<Item = &str> {
        let files = self.files.iter();
        files.filter_map(|file| file.path.strip_suffix(".parquet"))
    }

    /// Reads a table. Missing text is read as an empty string.
    ///
    /// # Errors
    /// The file is not listed in `run.json`, is missing, is damaged or has changed, or a column has cells of several
    /// types or of a nested type.
    pub fn table(&self, name: &str) -> Result<StoredTable> {
        let source = RunFiles::of(self).open(&format!("{name}.parquet"))?;
        let table = parquet::Table::open(&source)?;
        let columns = table.columns().iter();
        let columns = columns.map(|column| {
            let cells = Cells::read(&source, &table, column)?;
            Ok((column.name.clone(), cells.into()))
        });
        Ok(StoredTable {
            name: name.to_owned(),
            columns: columns.collect::<Result<_>>()?,
        })
    }

    /// Returns the names of a table's columns.
    ///
    /// # Errors
    /// The file is not listed in `run.json`, is missing, is damaged or has changed.
    pub fn columns(&self, table: &str) -> Result<Vec<String>> {
        let source = RunFiles::of(self).open(&format!("{table}.parquet"))?;
        let table = parquet::Table::open(&source)?;
        Ok(table.columns().iter().map(|c| c.name.clone()).collect())
    }

    /// Reads a JSON file of the run.
    ///
    /// # Errors
    /// The file is not listed in `run.json`, is missing, is damaged, has changed or lacks a field.
    pub fn json<T: serde::de::DeserializeOwned>(&self, name: &str) -> Result<T> {
        RunFiles::of(self).json(name)
    }

    /// Reads `summary.json`; `None` if the run did not write it.
    ///
    /// # Errors
    /// The file is missing, is damaged or has changed.
    pub fn summary(&self) -> Result<Option<serde_json::Value>> {
        let files = RunFiles::of(self);
        let has = files.has("summary.json");
        has.then(|| files.json("summary.json")).transpose()
    }
}

/// The cells of a column. The first cell with a value determines their type.
pub(super) enum Cells {
    /// Number of cells read so far, if all of them are missing.
    Missing(usize),
    Whole(Vec<Option<i64>>),
    Floats(Vec<Option<f64>>),
    Times(Vec<Option<Local>>),
    Texts(Vec<Option<String>>),
}

impl Cells {
    pub(super) fn read(
        source: &Source,
        table: &parquet::Table<'_>,
        column: &parquet::Column,
    ) -> Result<Self> {
        let mut cells = Cells::Missing(0);
        table.visit(column, |row, value| {
            cells.push(value).map_err(|expected| {
                let fault: Fault = source.fault(value.to_string(), expected);
                let fault = fault.field(column.name.as_str());
                fault.at(format!("row {}", row + 1)).into()
            })
        })?;
        Ok(cells)
    }

    /// Adds a cell. The error describes the expected type.
    fn push(&mut self, value: Value<'_>) -> Result<(), &'static str> {
        if let (Cells::Missing(count), false) = (&*self, value == Value::Null) {
            let count = *count;
            *self = match value {
                Value::Int(_) => Cells::Whole(vec![None; count]),
                Value::Float(_) => Cells::Floats(vec![None; count]),
                Value::Time(_) => Cells::Times(vec![None; count]),
                _ => Cells::Texts(vec![None; count]),
            };
        }
        match (self, value) {
            (Cells::Missing(count), _) => *count += 1,
            (Cells::Whole(cells), Value::Int(value)) => cells.push(Some(value)),
            (Cells::Whole(cells), Value::Null) => cells.push(None),
            (Cells::Floats(cells), Value::Float(value)) => cells.push(Some(value)),
            (Cells::Floats(cells), Value::Null) => cells.push(None),
            (Cells::Times(cells), Value::Time(_)) => cells.push(value.time()),
            (Cells::Times(cells), Value::Null) => cells.push(None),
            (Cells::Texts(cells), Value::Text(text)) => {
                let text = std::str::from_utf8(text).map_err(|_| "text in UTF-8")?;
                cells.push(Some(text.to_owned()));
            }
            (Cells::Texts(cells), Value::Bool(value)) => cells.push(Some(value.to_string())),
            (Cells::Texts(cells), Value::Null) => cells.push(None),
            _ => return Err("a value of the same type as the values above"),
        }
        Ok(())
    }
}

impl From<Cells> for Column<'static> {
    fn from(cells: Cells) -> Self {
        match cells {
            Cells::Missing(count) => Column::Floats(vec![None; count]),
            Cells::Whole(values) => Column::OptionalWhole(values),
            Cells::Floats(values) => Column::Floats(values),
            Cells::Times(values) => Column::Times(values),
            Cells::Texts(texts) => {
                let texts = texts.into_iter();
                Column::Texts(texts.map(|text| text.unwrap_or_default().into()).collect())
            }
        }
    }
}
