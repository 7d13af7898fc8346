//! Visits the cells of a stored column in row order.

use std::ops::Range;

use ::parquet::basic::Type as Physical;
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_typed_column_reader};
use ::parquet::data_type::{
    BoolType, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type, Int96Type,
};
use ::parquet::errors::ParquetError;
use ::parquet::schema::types::ColumnDescPtr;

use super::leaf::{Batch, Decoded, Levels};
use super::value::{Meaning, Value};

/// A stored column that is read row by row.
pub(super) trait Cursor {
    /// Starts reading the column's chunk of a row group.
    fn begin(&mut self, reader: ColumnReader);

    /// Decodes up to `most` further rows, and returns their number. They replace the previously decoded rows, all of
    /// which must have been visited.
    fn fill(&mut self, most: usize) -> Result<usize, ParquetError>;

    /// Moves to the next decoded row. The error describes the fault.
    fn advance(&mut self) -> Result<(), &'static str>;

    /// The value of the current cell. For a list, this is its first element.
    fn value(&self) -> Value<'_>;

    /// Calls `each` with the elements of the current cell. A cell that is not a list has a single element.
    fn elements<'s>(&'s self, each: &mut dyn FnMut(Value<'s>));
}

/// A cursor for a stored column; `None` if its type is unsupported.
pub(super) fn cursor(descr: ColumnDescPtr, list: bool) -> Option<Box<dyn Cursor>> {
    let meaning = Meaning::of(&descr);
    if meaning == Meaning::Unread {
        return None;
    }
    let levels = Levels::of(&descr, list);
    Some(match descr.physical_type() {
        Physical::BOOLEAN => Typed::<BoolType>::boxed(levels, meaning),
        Physical::INT32 => Typed::<Int32Type>::boxed(levels, meaning),
        Physical::INT64 => Typed::<Int64Type>::boxed(levels, meaning),
        Physical::INT96 => Typed::<Int96Type>::boxed(levels, meaning),
        Physical::FLOAT => Typed::<FloatType>::boxed(levels, meaning),
        Physical::DOUBLE => Typed::<DoubleType>::boxed(levels, meaning),
        Physical::BYTE_ARRAY => Typed::<ByteArrayType>::boxed(levels, meaning),
        Physical::FIXED_LEN_BYTE_ARRAY => return None,
    })
}

/// A cursor over the values of one physical type.
struct Typed<T: Decoded> {
    levels: Levels,
    meaning: Meaning,
    reader: Option<ColumnReaderImpl<T>>,
    batch: Batch<T>,
    /// The range of the current row's levels within the batch: one level, or several for a list.
    row: Range<usize>,
    /// Index of the current row's first value among the batch's values, which do not include missing values.
    first: usize,
    /// Number of the current row's values that are not missing.
    there: usize,
}

impl<T: Decoded + 'static> Typed<T> {
    fn boxed(levels: Levels, meaning: Meaning) -> Box<dyn Cursor> {
        Box::new(Typed::<T> {
            levels,
            meaning,
            reader: None,
            batch: Batch::default(),
            row: 0..0,
            first: 0,
            there: 0,
        })
    }

    /// The value that represents a missing cell at this index into the batch's levels; `None` if the cell has a value.
    fn missing(&self, at: usize) -> Option<Value<'static>> {
        let level = self.batch.definition.get(at)?;
        self.levels.missing(*level)
    }
}

impl<T: Decoded + 'static> Cursor for Typed<T> {
    fn begin(&mut self, reader: ColumnReader) {
        self.reader = Some(get_typed_column_reader::<T>(reader));
    }

    fn fill(&mut self, most: usize) -> Result<usize, ParquetError> {
        (self.row, self.first, self.there) = (0..0, 0, 0);
        let mut reader = self.reader.as_mut();
        let read = reader.as_mut().map(|reader| self.batch.read(reader, most));
        read.unwrap_or(Ok(0))
    }

    fn advance(&mut self) -> Result<(), &'static str> {
        let start = self.row.end;
        if start >= self.batch.levels {
            return Err("a column with fewer rows than the file");
        }
        // Repetition level 0 begins a new row; other levels continue a list.
        let repetition = self.batch.repetition.get(start + 1..).unwrap_or_default();
        let more = repetition.iter().position(|level| *level == 0);
        let end = match (self.batch.repetition.is_empty(), more) {
            (true, _) => start + 1,
            (false, Some(more)) => start + 1 + more,
            (false, None) => self.batch.levels,
        };
        self.first += self.there;
        self.row = start..end;
        self.there = self
            .row
            .clone()
            .filter(|at| self.missing(*at).is_none())
            .count();
        if self.first + self.there > self.batch.values.len() {
            return Err("too few values");
        }
        Ok(())
    }

    fn value(&self) -> Value<'_> {
        let missing = self.missing(self.row.start);
        missing.unwrap_or_else(|| T::value(self.meaning, &self.batch.values[self.first]))
    }

    fn elements<'s>(&'s self, each: &mut dyn FnMut(Value<'s>)) {
        let there = self.first..self.first + self.there;
        let mut values = self.batch.values[there].iter();
        for at in self.row.clone() {
            let value = match self.missing(at) {
                Some(missing) => Some(missing),
                None => values.next().map(|value| T::value(self.meaning, value)),
            };
            value.into_iter().for_each(&mut *each);
        }
    }
}
