//! What all writers of Parquet files share: putting a column, and its errors.

use std::io::{self, Write};

use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::properties::DEFAULT_WRITE_BATCH_SIZE;
use parquet::file::writer::SerializedRowGroupWriter;

/// Writes the next column of a row group; `present` has a 1 for every row with a value
/// and a 0 for every row without, in an optional column.
pub(super) fn put<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    present: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.ok_or_else(beyond_schema)?;
    column.typed::<T>().write_batch(values, present, None)?;
    column.close()
}

/// Values that are held at once: a multiple of those that the writer takes at once, so that its
/// pages are the same however many parts there are.
const PART: usize = 64 * DEFAULT_WRITE_BATCH_SIZE;

/// Writes the next column of a row group without ever holding all of its values.
pub(super) fn put_by_parts<T: DataType, W: Write + Send>(
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

/// The I/O error within, or the writer's words.
pub(super) fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
