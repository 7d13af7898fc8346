//! Decodes one stored column in batches.

use std::ops::Range;

use ::parquet::basic::{Repetition, Type as Physical};
use ::parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use ::parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type, Int96Type,
};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::RowGroupMetaData;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;
use bytes::Bytes;

use super::guard;
use super::thrift::Thrift;
use super::value::{Meaning, Value};
use gleaner_domain::Local;
use gleaner_domain::error::{Error, Result};

/// Number of records that are decoded at a time.
const BATCH: usize = 8192;
/// Number of records that are decoded at a time in a column of lists, which may be long.
const BATCH_OF_LISTS: usize = 16;

/// The reason why a visit ended early.
pub(super) enum Stop {
    /// The file is damaged; the string describes the damage.
    Damaged(String),
    /// The visitor returned this error.
    Caller(Error),
}

impl From<ParquetError> for Stop {
    fn from(error: ParquetError) -> Self {
        Stop::Damaged(super::describe(&error))
    }
}

fn damaged(found: &str) -> Stop {
    Stop::Damaged(found.to_owned())
}

/// A physical type whose values can be read.
pub(super) trait Decoded: DataType {
    /// Converts a stored value to the value of a cell, according to the meaning of the column's numbers.
    fn value(meaning: Meaning, value: &Self::T) -> Value<'_>;
}

/// Implements [`Decoded`] for physical types.
macro_rules! decoded {
    ($($Type:ty: |$meaning:pat_param, $value:pat_param| $cell:expr;)*) => {$(
        impl Decoded for $Type {
            fn value($meaning: Meaning, $value: &Self::T) -> Value<'_> {
                $cell
            }
        }
    )*};
}

decoded! {
    BoolType: |_, value| Value::Bool(*value);
    Int32Type: |meaning, value| meaning.value(i64::from(*value));
    Int64Type: |meaning, value| meaning.value(*value);
    Int96Type: |_, value| Value::Time(Some(Local(value.to_nanos())));
    FloatType: |_, value| Value::Float(f64::from(*value));
    DoubleType: |_, value| Value::Float(*value);
    ByteArrayType: |_, value| Value::Text(value.data());
}

/// A stored column, which Parquet calls a leaf of the schema.
pub(super) struct Leaf<'t> {
    pub bytes: &'t Bytes,
    pub file: &'t SerializedFileReader<Bytes>,
    pub descr: &'t ColumnDescriptor,
    /// Index of the column among all stored columns.
    pub index: usize,
    /// Whether the column's cells are lists.
    pub list: bool,
}

impl Leaf<'_> {
    /// Calls `each` with the row and value of every cell. If cells are lists, `each` is called for
    /// every element.
    pub fn visit_values(
        &self,
        each: impl FnMut(usize, Value<'_>) -> Result<()>,
    ) -> Result<(), Stop> {
        let meaning = Meaning::of(self.descr);
        match (self.descr.physical_type(), meaning) {
            (_, Meaning::Unread) | (Physical::FIXED_LEN_BYTE_ARRAY, _) => {
                Err(damaged("an unsupported column type"))
            }
            (Physical::BOOLEAN, _) => self.visit::<BoolType>(meaning, each),
            (Physical::INT32, _) => self.visit::<Int32Type>(meaning, each),
            (Physical::INT64, _) => self.visit::<Int64Type>(meaning, each),
            (Physical::INT96, _) => self.visit::<Int96Type>(meaning, each),
            (Physical::FLOAT, _) => self.visit::<FloatType>(meaning, each),
            (Physical::DOUBLE, _) => self.visit::<DoubleType>(meaning, each),
            (Physical::BYTE_ARRAY, _) => self.visit::<ByteArrayType>(meaning, each),
        }
    }

    /// Decodes the column as values of one physical type.
    fn visit<T: Decoded>(
        &self,
        meaning: Meaning,
        mut each: impl FnMut(usize, Value<'_>) -> Result<()>,
    ) -> Result<(), Stop> {
        let records = if self.list { BATCH_OF_LISTS } else { BATCH };
        let mut batch = Batch::<T>::default();
        let mut start = 0;
        for (number, group) in self.file.metadata().row_groups().iter().enumerate() {
            let mut rows = start..start + self.check(group)?;
            let group = self.file.get_row_group(number)?;
            let mut reader = get_typed_column_reader::<T>(group.get_column_reader(self.index)?);
            while batch.read(&mut reader, records)? > 0 {
                self.deliver(&batch, &mut rows, meaning, &mut each)?;
            }
            if !rows.is_empty() {
                return Err(damaged("a column with fewer rows than the file"));
            }
            start = rows.end;
        }
        Ok(())
    }

    /// Checks the column's chunk in a row group before it is decoded. Returns the number of rows of
    /// the row group.
    fn check(&self, group: &RowGroupMetaData) -> Result<usize, Stop> {
        let chunk = group.column(self.index);
        let rows = usize::try_from(group.num_rows());
        let rows = rows.map_err(|_| damaged("a negative number of rows"))?;
        let values = usize::try_from(chunk.num_values());
        let values = values.map_err(|_| damaged("a negative number of values"))?;
        let sound = if self.list {
            values <= guard::max_elements(self.bytes.len())
        } else {
            values == rows
        };
        if !sound {
            return Err(Stop::Damaged(format!("{values} values in {rows} rows")));
        }
        let header = |start, end| {
            let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
            Thrift::read_struct(self.bytes.get(start..end)?)
        };
        guard::check_pages(self.bytes.len() as u64, chunk, header).map_err(Stop::Damaged)?;
        Ok(rows)
    }

    /// Passes the cells of a batch to `each`, and removes their rows from the front of `rows`.
    ///
    /// Repetition level 0 begins a new row; other levels continue a list. The definition level
    /// shows whether a cell has a value. `batch.values` contains only the values that are not
    /// missing.
    fn deliver<T: Decoded>(
        &self,
        batch: &Batch<T>,
        rows: &mut Range<usize>,
        meaning: Meaning,
        each: &mut impl FnMut(usize, Value<'_>) -> Result<()>,
    ) -> Result<(), Stop> {
        let levels = Levels::of(self.descr, self.list);
        let mut values = batch.values.iter();
        let mut row = None;
        for at in 0..batch.levels {
            if batch.repetition.get(at).is_none_or(|level| *level == 0) {
                row = rows.next();
            }
            let row = row.ok_or_else(|| damaged("a column with more rows than the file"))?;
            let level = batch.definition.get(at);
            let cell = match level.and_then(|level| levels.missing(*level)) {
                Some(missing) => missing,
                None => T::value(
                    meaning,
                    values.next().ok_or_else(|| damaged("too few values"))?,
                ),
            };
            each(row, cell).map_err(Stop::Caller)?;
        }
        Ok(())
    }
}

/// The meaning of the definition levels of a stored column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Levels {
    /// The definition level of a cell that has a value.
    present: i16,
    /// Whether an element may be missing.
    optional: bool,
    /// Whether cells are lists.
    list: bool,
}

impl Levels {
    pub fn of(descr: &ColumnDescriptor, list: bool) -> Self {
        Levels {
            present: descr.max_def_level(),
            optional: descr.get_basic_info().repetition() == Repetition::OPTIONAL,
            list,
        }
    }

    /// The value that represents a missing cell at this definition level; `None` if the level means that the cell has a
    /// value.
    pub fn missing(self, level: i16) -> Option<Value<'static>> {
        if level == self.present {
            None
        } else if self.list && !(self.optional && level == self.present - 1) {
            Some(Value::Empty)
        } else {
            Some(Value::Null)
        }
    }
}

/// A batch of decoded records.
pub(super) struct Batch<T: DataType> {
    pub levels: usize,
    /// The values that are not missing.
    pub values: Vec<T::T>,
    /// The definition level of each cell; empty if every cell must have a value.
    pub definition: Vec<i16>,
    /// The repetition level of each cell; empty if there are no lists.
    pub repetition: Vec<i16>,
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
    /// Replaces the content with at most `most` further records. Returns their number, which is 0 at the
    /// end.
    pub fn read(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        most: usize,
    ) -> Result<usize, ParquetError> {
        self.values.clear();
        self.definition.clear();
        self.repetition.clear();
        let (records, _, levels) = reader.read_records(
            most,
            Some(&mut self.definition),
            Some(&mut self.repetition),
            &mut self.values,
        )?;
        self.levels = levels;
        Ok(records)
    }
}
