//! Functions shared by all writers of Parquet files: they write columns and convert errors.

use std::io::{self, Write};

use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::properties::DEFAULT_WRITE_BATCH_SIZE;
use parquet::file::writer::SerializedRowGroupWriter;

/// Writes the next column of a row group. For an optional column, `present` has a 1 for every row
/// with a value and a 0 for every other row.
pub fn put<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    present: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.ok_or_else(beyond_schema)?;
    column.typed::<T>().write_batch(values, present, None)?;
    column.close()
}

/// Number of values in a part. The number is a multiple of the writer's batch size, so that
/// dividing a column into parts does not affect its pages. Each part is held in memory as a whole.
const PART: usize = 64 * DEFAULT_WRITE_BATCH_SIZE;

/// Writes the next column of a row group in parts, so that its values need not all fit in memory.
pub fn put_by_parts<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    mut values: impl Iterator<Item = T::T>,
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.ok_or_else(beyond_schema)?;
    let mut part = Vec::with_capacity(PART);
    loop {
        part.clear();
        part.extend(values.by_ref().take(PART));
        if part.is_empty() {
            return column.close();
        }
        column.typed::<T>().write_batch(&part, None, None)?;
    }
}

fn beyond_schema() -> ParquetError {
    ParquetError::General("a column beyond the schema".to_owned())
}

/// Converts a Parquet error to an I/O error. If it wraps an I/O error, returns that error.
pub fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
