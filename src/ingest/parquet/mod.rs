//! Parquet files as columns of plain values, with every count checked first.
//!
//! Read with the `parquet` crate. Its panics on damaged files are contained, and
//! [`guard`] refuses the counts that would make it ask for too much memory.

use std::fmt;

use ::parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical};
use ::parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use ::parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type, Int96Type,
};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;
use bytes::Bytes;

use super::fault::show;
use super::source::Source;
use super::unwind::contain;
use crate::domain::Time;
use crate::error::{Error, Result};

mod guard;
mod thrift;

/// Records decoded at a time.
const BATCH: usize = 8192;

/// A Parquet file.
pub(super) struct Table<'a> {
    source: &'a Source,
    bytes: Bytes,
    file: SerializedFileReader<Bytes>,
    columns: Vec<Column>,
    rows: usize,
}

/// A top-level column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    /// Its name.
    pub name: String,
    /// The column that stores it, and whether it holds lists; `None` for other nested types.
    stored: Option<Stored>,
}

impl Column {
    /// Whether its cells are lists.
    pub fn is_list(&self) -> bool {
        self.stored.is_some_and(|stored| stored.list)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stored {
    leaf: usize,
    list: bool,
}

/// A cell, or an element of a cell that is a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value<'v> {
    /// Missing.
    Null,
    /// In a column of lists: the row's list is missing or has no element.
    Empty,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(&'v [u8]),
    /// `None` where it is beyond the years 1677 to 2262.
    Time(Option<Time>),
}

impl Value<'_> {
    /// The time it tells: a timestamp, seconds since 1970, or a text.
    pub fn time(self) -> Option<Time> {
        match self {
            // pandas' missing timestamp.
            Value::Time(time) => time.filter(|time| *time != Time(i64::MIN)),
            Value::Int(seconds) => seconds.checked_mul(1_000_000_000).map(Time),
            Value::Float(seconds) => Time::from_fractional_seconds(seconds),
            Value::Text(text) => std::str::from_utf8(text).ok()?.parse().ok(),
            Value::Null | Value::Empty | Value::Bool(_) => None,
        }
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null | Value::Empty => f.write_str("nothing"),
            Value::Bool(value) => value.fmt(f),
            Value::Int(value) => value.fmt(f),
            Value::Float(value) => value.fmt(f),
            Value::Text(text) => f.write_str(&show(text)),
            Value::Time(Some(time)) => time.fmt(f),
            Value::Time(None) => f.write_str("a time out of range"),
        }
    }
}

impl<'a> Table<'a> {
    /// Reads a file's metadata.
    pub fn open(source: &'a Source) -> Result<Self> {
        let bytes = Bytes::from(source.read_all()?.into_owned());
        let unreadable = |found: String| Error::from(source.fault(found, EXPECTED));
        guard::check_footer(&bytes).map_err(|found| unreadable(found.to_owned()))?;
        let opened = contain(|| {
            let file = SerializedFileReader::new(bytes.clone())?;
            let columns = columns(&file);
            Ok::<_, ParquetError>((file, columns))
        });
        let (file, columns) = opened
            .ok_or_else(|| unreadable("damaged metadata".to_owned()))?
            .map_err(|error| unreadable(describe(&error)))?;
        let rows = count_rows(&file, bytes.len()).map_err(unreadable)?;
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

    /// The top-level columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Calls `each` with the row (from 0) and value of every cell of a column; once
    /// for every element where it is a column of lists.
    ///
    /// # Errors
    /// The column is damaged or of a type that is not read, and errors of `each`.
    pub fn visit(
        &self,
        column: &Column,
        each: impl FnMut(usize, Value<'_>) -> Result<()>,
    ) -> Result<()> {
        let fault = |found: String| {
            Error::from(
                self.source
                    .fault(found, EXPECTED)
                    .field(column.name.as_str()),
            )
        };
        let Some(stored) = column.stored else {
            return Err(fault("a nested column other than a list".to_owned()));
        };
        let visited = contain(|| self.visit_stored(stored, each));
        match visited.unwrap_or(Err(Stop::Damaged("damaged data".to_owned()))) {
            Ok(()) => Ok(()),
            Err(Stop::Damaged(found)) => Err(fault(found)),
            Err(Stop::Caller(error)) => Err(error),
        }
    }

    fn visit_stored(
        &self,
        stored: Stored,
        each: impl FnMut(usize, Value<'_>) -> Result<()>,
    ) -> Result<(), Stop> {
        let schema = self.file.metadata().file_metadata().schema_descr_ptr();
        let descr = schema.column(stored.leaf);
        let leaf = Leaf {
            table: self,
            stored,
            descr: &descr,
        };
        let meaning = Meaning::of(&descr);
        let time = |value| meaning.time(value);
        match (descr.physical_type(), meaning) {
            (_, Meaning::Unread) | (Physical::FIXED_LEN_BYTE_ARRAY, _) => Err(Stop::Damaged(
                "a type of column that is not read here".to_owned(),
            )),
            (Physical::BOOLEAN, _) => leaf.visit::<BoolType>(|v| Value::Bool(*v), each),
            (Physical::INT32, Meaning::Plain) => {
                leaf.visit::<Int32Type>(|v| Value::Int(i64::from(*v)), each)
            }
            (Physical::INT32, _) => leaf.visit::<Int32Type>(|v| time(i64::from(*v)), each),
            (Physical::INT64, Meaning::Plain) => leaf.visit::<Int64Type>(|v| Value::Int(*v), each),
            (Physical::INT64, _) => leaf.visit::<Int64Type>(|v| time(*v), each),
            (Physical::INT96, _) => {
                leaf.visit::<Int96Type>(|v| Value::Time(Some(Time(v.to_nanos()))), each)
            }
            (Physical::FLOAT, _) => leaf.visit::<FloatType>(|v| Value::Float(f64::from(*v)), each),
            (Physical::DOUBLE, _) => leaf.visit::<DoubleType>(|v| Value::Float(*v), each),
            (Physical::BYTE_ARRAY, _) => {
                leaf.visit::<ByteArrayType>(|v| Value::Text(v.data()), each)
            }
        }
    }
}

const EXPECTED: &str = "a sound Parquet file";

/// Why a visit ended early.
enum Stop {
    Damaged(String),
    Caller(Error),
}

impl From<ParquetError> for Stop {
    fn from(error: ParquetError) -> Self {
        Stop::Damaged(describe(&error))
    }
}

/// What the numbers of a column stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// Themselves.
    Plain,
    /// So many nanoseconds each since 1970.
    Time(i64),
    /// Something that no reader here asks for, such as decimals.
    Unread,
}

impl Meaning {
    fn of(descr: &ColumnDescriptor) -> Self {
        const DAY: i64 = 86_400 * 1_000_000_000;
        match descr.logical_type_ref() {
            Some(LogicalType::Date) => return Meaning::Time(DAY),
            Some(LogicalType::Timestamp(stamp)) => {
                return match stamp.unit {
                    TimeUnit::MILLIS => Meaning::Time(1_000_000),
                    TimeUnit::MICROS => Meaning::Time(1_000),
                    TimeUnit::NANOS => Meaning::Time(1),
                };
            }
            Some(LogicalType::Decimal(_) | LogicalType::Time(_)) => return Meaning::Unread,
            _ => {}
        }
        match descr.converted_type() {
            ConvertedType::DATE => Meaning::Time(DAY),
            ConvertedType::TIMESTAMP_MILLIS => Meaning::Time(1_000_000),
            ConvertedType::TIMESTAMP_MICROS => Meaning::Time(1_000),
            ConvertedType::DECIMAL
            | ConvertedType::TIME_MILLIS
            | ConvertedType::TIME_MICROS
            | ConvertedType::INTERVAL => Meaning::Unread,
            _ => Meaning::Plain,
        }
    }

    fn time(self, value: i64) -> Value<'static> {
        match self {
            Meaning::Time(nanos) => Value::Time(value.checked_mul(nanos).map(Time)),
            Meaning::Plain | Meaning::Unread => Value::Int(value),
        }
    }
}

/// A stored column.
struct Leaf<'t> {
    table: &'t Table<'t>,
    stored: Stored,
    descr: &'t ColumnDescriptor,
}

impl Leaf<'_> {
    fn visit<T: DataType>(
        &self,
        value: impl for<'v> Fn(&'v T::T) -> Value<'v>,
        mut each: impl FnMut(usize, Value<'_>) -> Result<()>,
    ) -> Result<(), Stop> {
        let file = &self.table.file;
        let mut batch = Batch::<T>::default();
        let mut next = 0;
        for (index, group) in file.metadata().row_groups().iter().enumerate() {
            let chunk = group.column(self.stored.leaf);
            guard::check_pages(&self.table.bytes, chunk).map_err(Stop::Damaged)?;
            let end = next + usize::try_from(group.num_rows()).unwrap_or(0);
            let reader = file
                .get_row_group(index)?
                .get_column_reader(self.stored.leaf)?;
            let mut reader = get_typed_column_reader::<T>(reader);
            while batch.read(&mut reader)? {
                self.deliver(&batch, &mut next, &value, &mut each)?;
            }
            if next != end {
                return Err(Stop::Damaged("a column of another length".to_owned()));
            }
        }
        Ok(())
    }

    /// Hands a batch's cells over and moves `next`, the next row's number, on.
    fn deliver<T: DataType>(
        &self,
        batch: &Batch<T>,
        next: &mut usize,
        value: impl for<'v> Fn(&'v T::T) -> Value<'v>,
        each: &mut impl FnMut(usize, Value<'_>) -> Result<()>,
    ) -> Result<(), Stop> {
        let damaged = || Stop::Damaged("levels and values that do not match".to_owned());
        let mut values = batch.values.iter();
        for at in 0..batch.levels {
            if batch.repetition.get(at).is_none_or(|level| *level == 0) {
                *next += 1;
            }
            let row = next.checked_sub(1).ok_or_else(damaged)?;
            let missing = batch
                .definition
                .get(at)
                .and_then(|level| self.missing(*level));
            let cell = match missing {
                Some(missing) => missing,
                None => value(values.next().ok_or_else(damaged)?),
            };
            each(row, cell).map_err(Stop::Caller)?;
        }
        Ok(())
    }

    /// What a definition level says is missing; `None` where there is a value.
    fn missing(&self, level: i16) -> Option<Value<'static>> {
        let present = self.descr.max_def_level();
        let optional = self.descr.get_basic_info().repetition() == Repetition::OPTIONAL;
        if level == present {
            None
        } else if self.stored.list && !(optional && level == present - 1) {
            Some(Value::Empty)
        } else {
            Some(Value::Null)
        }
    }
}

/// Records decoded together.
struct Batch<T: DataType> {
    levels: usize,
    values: Vec<T::T>,
    /// Empty where nothing can be missing.
    definition: Vec<i16>,
    /// Empty where there are no lists.
    repetition: Vec<i16>,
}

impl<T: DataType> Default for Batch<T> {
    fn default() -> Self {
        Batch {
            levels: 0,
            values: Vec::new(),
            definition: Vec::new(),
            repetition: Vec::new(),
        }
    }
}

impl<T: DataType> Batch<T> {
    /// Reads the next records in place of those held; false at the end.
    fn read(&mut self, reader: &mut ColumnReaderImpl<T>) -> Result<bool, ParquetError> {
        self.values.clear();
        self.definition.clear();
        self.repetition.clear();
        let (records, _, levels) = reader.read_records(
            BATCH,
            Some(&mut self.definition),
            Some(&mut self.repetition),
            &mut self.values,
        )?;
        self.levels = levels;
        Ok(records > 0)
    }
}

/// The top-level columns and where each is stored.
fn columns(file: &SerializedFileReader<Bytes>) -> Vec<Column> {
    let schema = file.metadata().file_metadata().schema_descr();
    let roots = schema.root_schema().get_fields();
    let mut leaves = vec![Vec::new(); roots.len()];
    for leaf in 0..schema.num_columns() {
        leaves[schema.get_column_root_idx(leaf)].push(leaf);
    }
    let stored = |leaves: &[usize], flat: bool| match leaves {
        [leaf] => match schema.column(*leaf).max_rep_level() {
            0 if flat => Some(Stored {
                leaf: *leaf,
                list: false,
            }),
            1 => Some(Stored {
                leaf: *leaf,
                list: true,
            }),
            _ => None,
        },
        _ => None,
    };
    let columns = roots.iter().zip(&leaves).map(|(root, leaves)| Column {
        name: root.name().to_owned(),
        stored: stored(leaves, root.is_primitive()),
    });
    columns.collect()
}

/// The number of rows, where the file is large enough for what it states.
fn count_rows(file: &SerializedFileReader<Bytes>, length: usize) -> Result<usize, String> {
    let metadata = file.metadata();
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

/// An error's first line; the rest may be a dump of what was read.
fn describe(error: &ParquetError) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}
