//! A table as Parquet.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::{Column, Table};
use crate::output::parquet_column::{io_error, put};

/// Definition levels of an optional column.
const MISSING: i16 = 0;
const PRESENT: i16 = 1;

impl Table<'_> {
    /// Writes the table as Parquet; times are nanosecond timestamps without a zone.
    ///
    /// The bytes depend on the table alone.
    ///
    /// # Errors
    /// What the Parquet writer fails with, in its words.
    pub fn write_parquet(&self, out: impl Write + Send) -> io::Result<()> {
        self.try_write(out).map_err(io_error)
    }

    fn try_write(&self, out: impl Write + Send) -> Result<(), ParquetError> {
        let fields = self
            .columns
            .iter()
            .map(|(name, column)| field(name, column).map(Arc::new))
            .collect::<Result<_, _>>()?;
        let schema = Type::group_type_builder(self.name)
            .with_fields(fields)
            .build()?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .build();
        let mut writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
        let mut group = writer.next_row_group()?;
        for (_, column) in &self.columns {
            write_column(column, &mut group)?;
        }
        group.close()?;
        writer.close().map(drop)
    }
}

fn field(name: &str, column: &Column<'_>) -> Result<Type, ParquetError> {
    let timestamp = Some(LogicalType::timestamp(false, TimeUnit::NANOS));
    let (physical, logical, optional) = match column {
        Column::Times(_) => (Physical::INT64, timestamp, true),
        Column::EveryTime(_) => (Physical::INT64, timestamp, false),
        Column::Fixed(_) => (Physical::DOUBLE, None, false),
        Column::Floats(_) => (Physical::DOUBLE, None, true),
        Column::Integers(_) => (Physical::INT64, None, false),
        Column::Texts(_) | Column::Names { .. } => {
            (Physical::BYTE_ARRAY, Some(LogicalType::String), false)
        }
    };
    Type::primitive_type_builder(name, physical)
        .with_logical_type(logical)
        .with_repetition(if optional {
            Repetition::OPTIONAL
        } else {
            Repetition::REQUIRED
        })
        .build()
}

fn write_column<W: Write + Send>(
    column: &Column<'_>,
    group: &mut SerializedRowGroupWriter<'_, W>,
) -> Result<(), ParquetError> {
    match column {
        Column::Times(v) => optional::<Int64Type, _>(group, v.iter().map(|t| t.map(|t| t.0))),
        Column::EveryTime(v) => required::<Int64Type, _>(group, v.iter().map(|t| t.0)),
        Column::Fixed(v) => required::<DoubleType, _>(group, v.iter().copied()),
        Column::Floats(v) => optional::<DoubleType, _>(group, v.iter().copied()),
        Column::Integers(v) => required::<Int64Type, _>(group, v.iter().map(|&n| n as i64)),
        Column::Texts(v) => {
            required::<ByteArrayType, _>(group, v.iter().map(|t| ByteArray::from(t.as_ref())))
        }
        Column::Names { names, indices } => {
            // Cloning a ByteArray copies no text.
            let names: Vec<ByteArray> = names.iter().map(|&n| ByteArray::from(n)).collect();
            required::<ByteArrayType, _>(group, indices.iter().map(|&i| names[i as usize].clone()))
        }
    }
}

fn required<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: impl Iterator<Item = T::T>,
) -> Result<(), ParquetError> {
    put::<T, W>(group, &values.collect::<Vec<_>>(), None)
}

fn optional<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let mut present = Vec::new();
    let levels: Vec<i16> = values
        .map(|value| match value {
            Some(value) => {
                present.push(value);
                PRESENT
            }
            None => MISSING,
        })
        .collect();
    put::<T, W>(group, &present, Some(&levels))
}
