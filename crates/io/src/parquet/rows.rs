//! Reads a Parquet file row by row.

use std::fs::File;
use std::path::{Path, PathBuf};

use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, SerializedFileReader};

use super::cursor::{Cursor, cursor};
use super::disk::Disk;
use super::value::{Value, zones};
use super::{Column, EXPECTED, Stored, columns, count_rows, describe, guard};
use crate::unwind::contain;
use gleaner_domain::error::{Error, Fault, Result};

/// Number of rows that are decoded at a time.
const BATCH: usize = 4096;

/// Number of list elements that are decoded at a time, on average.
const ELEMENTS: usize = 1 << 16;

/// Maximum number of list elements in a row group. In a hostile file, a single list can hold all of them. A list is
/// decoded as a whole, which takes up to 2 GiB of memory.
const MAX_ELEMENTS: usize = 1 << 26;

/// A Parquet file on disk. Its rows are read page by page.
pub struct RowFile {
    path: PathBuf,
    disk: Disk,
    file: SerializedFileReader<Disk>,
    columns: Vec<Column>,
    zones: Vec<Option<String>>,
    rows: usize,
}

impl RowFile {
    /// Reads and checks the metadata of a file. `path` is used only in messages.
    ///
    /// # Errors
    /// The file cannot be read, or its metadata is damaged.
    pub fn open(path: &Path, file: File) -> Result<Self> {
        let io_error = |error| Error::io("read", path, error);
        let unreadable = |found: String| Error::from(Fault::of(path, found, EXPECTED));
        let disk = Disk::new(file).map_err(io_error)?;
        let sound = disk.check().map_err(io_error)?;
        sound.map_err(|found| unreadable(found.to_owned()))?;
        let opened = contain(|| {
            let file = SerializedFileReader::new(disk.clone())?;
            let columns = columns(file.metadata());
            let zones = zones(file.metadata(), &columns);
            Ok::<_, ParquetError>((file, columns, zones))
        });
        let (file, columns, zones) = opened
            .ok_or_else(|| unreadable("damaged metadata".to_owned()))?
            .map_err(|error| unreadable(describe(&error)))?;
        let length = usize::try_from(disk.length()).unwrap_or(usize::MAX);
        let rows = count_rows(file.metadata(), length).map_err(unreadable)?;
        Ok(RowFile {
            path: path.to_owned(),
            disk,
            file,
            columns,
            zones,
            rows,
        })
    }

    /// The top-level columns, in the order of the file.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The time zone of each column's timestamps, if pandas recorded it.
    pub fn zones(&self) -> &[Option<String>] {
        &self.zones
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Starts reading the columns with these indices.
    ///
    /// # Errors
    /// A column has an unsupported type.
    pub fn read(&self, chosen: &[usize]) -> Result<Rows<'_>> {
        let schema = self.file.metadata().file_metadata().schema_descr();
        let chosen = chosen.iter().map(|index| {
            let column = &self.columns[*index];
            let unread = |found: &str| {
                let fault = Fault::of(&self.path, found, "times, numbers, text or lists of them");
                Error::from(fault.field(column.name.as_str()))
            };
            let stored = column.stored;
            let stored = stored.ok_or_else(|| unread("a nested column other than a list"))?;
            let cursor = cursor(schema.column(stored.leaf), stored.list);
            Ok(Chosen {
                name: &column.name,
                stored,
                cursor: cursor.ok_or_else(|| unread("an unsupported column type"))?,
            })
        });
        Ok(Rows {
            file: self,
            chosen: chosen.collect::<Result<_>>()?,
            group: 0,
            left: 0,
            batch: BATCH,
            decoded: 0,
        })
    }

    fn fault(&self, column: &str, found: impl Into<String>) -> Error {
        Fault::of(&self.path, found, EXPECTED).field(column).into()
    }
}

/// Visits the chosen columns of a [`RowFile`] row by row.
pub struct Rows<'f> {
    file: &'f RowFile,
    chosen: Vec<Chosen<'f>>,
    /// Index of the next row group.
    group: usize,
    /// Number of rows of the current row group that are yet to be decoded.
    left: usize,
    /// Number of rows to decode at a time in the current row group.
    batch: usize,
    /// Number of decoded rows that are yet to be visited.
    decoded: usize,
}

/// A column that is being read.
struct Chosen<'f> {
    name: &'f str,
    stored: Stored,
    cursor: Box<dyn Cursor>,
}

impl Rows<'_> {
    /// Moves to the next row. Returns false after the last row.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn next_row(&mut self) -> Result<bool> {
        while self.decoded == 0 {
            if self.left == 0 && !self.begin_group()? {
                return Ok(false);
            }
            self.decode()?;
        }
        self.decoded -= 1;
        for column in &mut self.chosen {
            let moved = column.cursor.advance();
            moved.map_err(|found| self.file.fault(column.name, found))?;
        }
        Ok(true)
    }

    /// The current cell of the chosen column with this index. For a list, this is its first element.
    pub fn value(&self, chosen: usize) -> Value<'_> {
        self.chosen[chosen].cursor.value()
    }

    /// Calls `each` with the elements of the current cell of a chosen column. A cell that is not a list has a single
    /// element.
    pub fn elements<'s>(&'s self, chosen: usize, each: &mut dyn FnMut(Value<'s>)) {
        self.chosen[chosen].cursor.elements(each);
    }

    /// Starts the next row group. Returns false after the last row group.
    fn begin_group(&mut self) -> Result<bool> {
        let file = self.file;
        let Some(group) = file.file.metadata().row_groups().get(self.group) else {
            return Ok(false);
        };
        self.left = usize::try_from(group.num_rows()).unwrap_or(0);
        self.batch = BATCH;
        for column in &mut self.chosen {
            let Stored { leaf, list } = column.stored;
            let chunk = group.column(leaf);
            let values = usize::try_from(chunk.num_values()).unwrap_or(usize::MAX);
            let length = usize::try_from(file.disk.length()).unwrap_or(usize::MAX);
            let is_sound = if list {
                values <= guard::max_elements(length).min(MAX_ELEMENTS)
            } else {
                values == self.left
            };
            if !is_sound {
                let found = format!("{values} values in {} rows", self.left);
                return Err(file.fault(column.name, found));
            }
            if list {
                // For example, lists of 1,000 elements are decoded 65 at a time.
                let rows = (ELEMENTS * self.left).checked_div(values).unwrap_or(BATCH);
                self.batch = self.batch.min(rows.max(1));
            }
            let header = |start, end| file.disk.header(start, end);
            guard::check_pages(file.disk.length(), chunk, header)
                .map_err(|found| file.fault(column.name, found))?;
            let begun = contain(|| {
                let group = file.file.get_row_group(self.group)?;
                column.cursor.begin(group.get_column_reader(leaf)?);
                Ok::<_, ParquetError>(())
            });
            settled(file, column.name, begun)?;
        }
        self.group += 1;
        Ok(true)
    }

    /// Decodes the next rows of the current row group in every column.
    fn decode(&mut self) -> Result<()> {
        let most = self.batch.min(self.left);
        for column in &mut self.chosen {
            let cursor = &mut column.cursor;
            let rows = settled(self.file, column.name, contain(|| cursor.fill(most)))?;
            if rows != most {
                let found = "a column with fewer rows than the file";
                return Err(self.file.fault(column.name, found));
            }
        }
        self.left -= most;
        self.decoded = most;
        Ok(())
    }
}

/// Converts the result of a decoding step that `contain` ran: a panic or a Parquet error becomes a fault.
fn settled<T>(file: &RowFile, column: &str, step: Option<Result<T, ParquetError>>) -> Result<T> {
    match step {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(file.fault(column, describe(&error))),
        None => Err(file.fault(column, "damaged data")),
    }
}
