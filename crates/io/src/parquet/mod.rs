//! Reads Parquet files as columns of plain values. All counts are checked before memory is allocated.
//!
//! The files are decoded by the `parquet` crate. If the crate panics on a damaged file, the panic is caught. `guard`
//! rejects counts that would make the crate allocate too much memory.
//!
//! - [`Table`] holds the bytes of a file, and visits it column by column.
//! - [`RowFile`] reads the file page by page, and visits it row by row. Only the pages around the current row are in
//!   memory, so the file need not fit in memory.

use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::ParquetMetaData;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use bytes::Bytes;

use crate::source::Source;
use crate::unwind::contain;
use gleaner_domain::error::{Error, Result};

mod cursor;
mod disk;
mod guard;
mod leaf;
mod rows;
mod thrift;
mod value;

pub use rows::{RowFile, Rows};
pub use value::Value;

/// Whether a file that begins with these bytes is a Parquet file.
pub fn is_parquet(head: &[u8]) -> bool {
    head.starts_with(guard::MAGIC)
}

use leaf::{Leaf, Stop};

/// A Parquet file held in memory.
pub struct Table<'a> {
    source: &'a Source,
    bytes: Bytes,
    file: SerializedFileReader<Bytes>,
    columns: Vec<Column>,
    rows: usize,
}

/// A top-level column of the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The name in the schema.
    pub name: String,
    /// Whether the column's timestamps are in UTC rather than in local time.
    pub utc: bool,
    /// The stored column that holds the values; `None` for nested types other than lists.
    stored: Option<Stored>,
}

impl Column {
    /// Whether the column's cells are lists.
    pub fn is_list(&self) -> bool {
        self.stored.is_some_and(|stored| stored.list)
    }
}

/// Index of a stored column, and whether its cells are lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stored {
    leaf: usize,
    list: bool,
}

impl<'a> Table<'a> {
    /// Reads and checks the metadata of a file.
    pub fn open(source: &'a Source) -> Result<Self> {
        let bytes = Bytes::from(source.read_all()?.into_owned());
        let unreadable = |found: String| Error::from(source.fault(found, EXPECTED));
        guard::check_file(&bytes).map_err(|found| unreadable(found.to_owned()))?;
        let opened = contain(|| {
            let file = SerializedFileReader::new(bytes.clone())?;
            let columns = columns(file.metadata());
            Ok::<_, ParquetError>((file, columns))
        });
        let (file, columns) = opened
            .ok_or_else(|| unreadable("damaged metadata".to_owned()))?
            .map_err(|error| unreadable(describe(&error)))?;
        let rows = count_rows(file.metadata(), bytes.len()).map_err(unreadable)?;
        Ok(Table {
            source,
            bytes,
            file,
            columns,
            rows,
        })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The name of the schema.
    pub fn name(&self) -> &str {
        let metadata = self.file.metadata().file_metadata();
        metadata.schema_descr().root_schema().name()
    }

    /// The value that the file's metadata stores under this key, if any.
    pub fn metadata(&self, key: &str) -> Option<&str> {
        let pairs = self.file.metadata().file_metadata().key_value_metadata()?;
        let pair = pairs.iter().find(|pair| pair.key == key)?;
        pair.value.as_deref()
    }

    /// The top-level columns, in the order of the file.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column with this name, if there is one.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Calls `each` with the row (from 0) and the value of every cell of a column.
    ///
    /// # Errors
    /// The column is damaged, it contains lists or another unsupported type, or `each` fails.
    pub fn visit(
        &self,
        column: &Column,
        each: impl FnMut(usize, Value<'_>) -> Result<()>,
    ) -> Result<()> {
        if column.is_list() {
            let fault = self.source.fault("lists", "single values");
            return Err(fault.field(column.name.as_str()).into());
        }
        self.visit_elements(column, each)
    }

    /// Like [`Table::visit`], but also reads columns of lists. `each` is then called for every
    /// element, and once for a row without elements.
    pub fn visit_elements(
        &self,
        column: &Column,
        each: impl FnMut(usize, Value<'_>) -> Result<()>,
    ) -> Result<()> {
        let fault = |found: String| {
            let fault = self.source.fault(found, EXPECTED);
            Error::from(fault.field(column.name.as_str()))
        };
        let Some(Stored { leaf, list }) = column.stored else {
            return Err(fault("a nested column other than a list".to_owned()));
        };
        let schema = self.file.metadata().file_metadata().schema_descr_ptr();
        let leaf = Leaf {
            bytes: &self.bytes,
            file: &self.file,
            descr: &schema.column(leaf),
            index: leaf,
            list,
        };
        match contain(|| leaf.visit_values(each)) {
            Some(Ok(())) => Ok(()),
            Some(Err(Stop::Damaged(found))) => Err(fault(found)),
            Some(Err(Stop::Caller(error))) => Err(error),
            None => Err(fault("damaged data".to_owned())),
        }
    }
}

const EXPECTED: &str = "a valid Parquet file";

/// The top-level columns, each with the index of its stored column.
fn columns(metadata: &ParquetMetaData) -> Vec<Column> {
    let schema = metadata.file_metadata().schema_descr();
    let roots = schema.root_schema().get_fields();
    let mut leaves = vec![Vec::new(); roots.len()];
    for leaf in 0..schema.num_columns() {
        leaves[schema.get_column_root_idx(leaf)].push(leaf);
    }
    let stored = |leaves: &[usize], flat: bool| match leaves {
        [leaf] => match schema.column(*leaf).max_rep_level() {
            0 if flat => Some((*leaf, false)),
            1 => Some((*leaf, true)),
            _ => None,
        },
        _ => None,
    };
    let columns = roots.iter().zip(&leaves).map(|(root, leaves)| Column {
        name: root.name().to_owned(),
        utc: leaves
            .iter()
            .any(|leaf| value::is_utc(&schema.column(*leaf))),
        stored: stored(leaves, root.is_primitive()).map(|(leaf, list)| Stored { leaf, list }),
    });
    columns.collect()
}

/// Returns the number of rows. Fails if the file is too small for the rows and cells that it declares.
fn count_rows(metadata: &ParquetMetaData, length: usize) -> Result<usize, String> {
    let mut rows = 0usize;
    for group in metadata.row_groups() {
        let more = usize::try_from(group.num_rows()).map_err(|_| "a negative number of rows")?;
        rows = rows.saturating_add(more);
    }
    let columns = metadata.file_metadata().schema_descr().num_columns();
    if rows > guard::max_rows(length) || rows.saturating_mul(columns) > guard::max_cells(length) {
        return Err(format!(
            "{rows} rows of {columns} columns in {length} bytes"
        ));
    }
    Ok(rows)
}

/// The first line of an error. Later lines may contain a dump of data.
fn describe(error: &ParquetError) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}
