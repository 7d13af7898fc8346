//! What all writers of Parquet files share: putting a column, and its errors.

use std::io::{self, Write};

use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedRowGroupWriter;

/// Writes the next column of a row group; `present` has a 1 for every row with a value
/// and a 0 for every row without, in an optional column.
pub(super) fn put<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    present: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General(
            "a column beyond the schema".to_owned(),
        ));
    };
    column.typed::<T>().write_batch(values, present, None)?;
    column.close()
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
