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
use super::value::{Meaning, Value};
use gleaner_domain::Local;
use gleaner_domain::error::{Error, Result};

/// Number of records that are decoded at a time.
const BATCH: usize = 8192;
/// Number of records that are decoded at a time if they are lists, which may be long.
const BATCH_OF_LISTS: usize = 16;

/// The reason why a visit ended early.
pub(super) enum Stop {
    /// The file is damaged; the text describes the damage.
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

/// A stored column, which Parquet calls a leaf of the schema.
pub(super) struct Leaf<'t> {
    pub bytes: &'t Bytes,
    pub file: &'t SerializedFileReader<Bytes>,
    pub descr: &'t ColumnDescriptor,
    /// Index of the column among all stored columns.
    pub index: usize,
    /// Whether its cells are lists.
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
            (Physical::BOOLEAN, _) => self.visit::<BoolType>(|v| Value::Bool(*v), each),
            (Physical::INT32, _) => self.visit::<Int32Type>(|v| meaning.value(i64::from(*v)), each),
            (Physical::INT64, _) => self.visit::<Int64Type>(|v| meaning.value(*v), each),
            (Physical::INT96, _) => {
                self.visit::<Int96Type>(|v| Value::Time(Some(Local(v.to_nanos()))), each)
            }
            (Physical::FLOAT, _) => self.visit::<FloatType>(|v| Value::Float(f64::from(*v)), each),
            (Physical::DOUBLE, _) => self.visit::<DoubleType>(|v| Value::Float(*v), each),
            (Physical::BYTE_ARRAY, _) => {
                self.visit::<ByteArrayType>(|v| Value::Text(v.data()), each)
            }
        }
    }

    /// Decodes the column as values of one physical type.
    fn visit<T: DataType>(
        &self,
        value: impl for<'v> Fn(&'v T::T) -> Value<'v>,
        mut each: impl FnMut(usize, Value<'_>) -> Result<()>,
    ) -> Result<(), Stop> {
        let records = if self.list { BATCH_OF_LISTS } else { BATCH };
        let mut batch = Batch::<T>::default();
        let mut start = 0;
        for (number, group) in self.file.metadata().row_groups().iter().enumerate() {
            let mut rows = start..start + self.check(group)?;
            let group = self.file.get_row_group(number)?;
            let mut reader = get_typed_column_reader::<T>(group.get_column_reader(self.index)?);
            while batch.read(&mut reader, records)? {
                self.deliver(&batch, &mut rows, &value, &mut each)?;
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
        guard::check_pages(self.bytes, chunk).map_err(Stop::Damaged)?;
        Ok(rows)
    }

    /// Passes the cells of a batch to `each`, and removes their rows from the front of `rows`.
    ///
    /// Repetition level 0 begins a new row; other levels continue a list. The definition level
    /// shows whether a cell has a value. `batch.values` only contains the existing values.
    fn deliver<T: DataType>(
        &self,
        batch: &Batch<T>,
        rows: &mut Range<usize>,
        value: impl for<'v> Fn(&'v T::T) -> Value<'v>,
        each: &mut impl FnMut(usize, Value<'_>) -> Result<()>,
    ) -> Result<(), Stop> {
        let mut values = batch.values.iter();
        let mut row = None;
        for at in 0..batch.levels {
            if batch.repetition.get(at).is_none_or(|level| *level == 0) {
                row = rows.next();
            }
            let row = row.ok_or_else(|| damaged("a column with more rows than the file"))?;
            let level = batch.definition.get(at);
            let cell = match level.and_then(|level| self.missing(*level)) {
                Some(missing) => missing,
                None => value(values.next().ok_or_else(|| damaged("too few values"))?),
            };
            each(row, cell).map_err(Stop::Caller)?;
        }
        Ok(())
    }

    /// The value that stands for missing data at this definition level; `None` if there is a value.
    fn missing(&self, level: i16) -> Option<Value<'static>> {
        let present = self.descr.max_def_level();
        let optional = self.descr.get_basic_info().repetition() == Repetition::OPTIONAL;
        if level == present {
            None
        } else if self.list && !(optional && level == present - 1) {
            Some(Value::Empty)
        } else {
            Some(Value::Null)
        }
    }
}

/// Records that were decoded together.
struct Batch<T: DataType> {
    levels: usize,
    values: Vec<T::T>,
    /// The definition level of each cell; empty if every cell must have a value.
    definition: Vec<i16>,
    /// The repetition level of each cell; empty if there are no lists.
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
    /// Replaces the contents with up to `most` further records. Returns false at the end.
    fn read(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        most: usize,
    ) -> Result<bool, ParquetError> {
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
        Ok(records > 0)
    }
}
