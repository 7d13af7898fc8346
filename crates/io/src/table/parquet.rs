//! Writes a table as Parquet.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnDescPtr, ColumnPath, Type};

use super::dictionary::Dictionary;
use crate::parquet_column::{io_error, put, put_by_parts};
use gleaner_domain::results::{Column, Table};

/// Definition levels of an optional column.
const MISSING: i16 = 0;
const PRESENT: i16 = 1;

/// Writes the table as Parquet. Times are nanosecond timestamps without a zone.
///
/// Equal tables give identical bytes.
///
/// # Errors
/// The Parquet writer fails; its error is returned as an I/O error.
pub(super) fn write(table: &Table<'_>, out: impl Write + Send) -> io::Result<()> {
    try_write(table, out).map_err(io_error)
}

fn try_write(table: &Table<'_>, out: impl Write + Send) -> Result<(), ParquetError> {
    let fields = table
        .columns
        .iter()
        .map(|(name, column)| field(name, column).map(Arc::new))
        .collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder(table.name)
        .with_fields(fields)
        .build()?;
    let properties = Arc::new(properties(table));
    let mut writer = SerializedFileWriter::new(out, Arc::new(schema), properties)?;
    let descriptions = writer.schema_descr().columns().to_vec();
    let mut group = writer.next_row_group()?;
    for ((_, column), descr) in table.columns.iter().zip(descriptions) {
        write_column(column, descr, &mut group)?;
    }
    group.close()?;
    writer.close().map(drop)
}

/// The settings of the Parquet writer. A column of mostly distinct numbers is stored as
/// differences, because its dictionary would be about as long as the column.
fn properties(table: &Table<'_>) -> WriterProperties {
    let mut properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
    for (name, column) in &table.columns {
        if let Column::Whole(_) | Column::Spaced(_) = column {
            let path = || ColumnPath::from(*name);
            properties = properties
                .set_column_dictionary_enabled(path(), false)
                .set_column_encoding(path(), Encoding::DELTA_BINARY_PACKED)
                .set_column_statistics_enabled(path(), EnabledStatistics::None);
        }
    }
    properties.build()
}

fn field(name: &str, column: &Column<'_>) -> Result<Type, ParquetError> {
    let timestamp = Some(LogicalType::timestamp(false, TimeUnit::NANOS));
    let (physical, logical, optional) = match column {
        Column::Times(_) => (Physical::INT64, timestamp, true),
        Column::EveryTime(_) => (Physical::INT64, timestamp, false),
        Column::Fixed(_) | Column::RepeatedFloats(_) => (Physical::DOUBLE, None, false),
        Column::Floats(_) | Column::PythonFloats(_) => (Physical::DOUBLE, None, true),
        Column::Integers(_)
        | Column::Whole(_)
        | Column::Spaced(_)
        | Column::RepeatedIntegers(_) => (Physical::INT64, None, false),
        Column::OptionalWhole(_) => (Physical::INT64, None, true),
        Column::Texts(_) | Column::Names { .. } | Column::RepeatedNames { .. } => {
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
    descr: ColumnDescPtr,
    group: &mut SerializedRowGroupWriter<'_, W>,
) -> Result<(), ParquetError> {
    match column {
        Column::Times(v) => optional::<Int64Type, _>(group, v.iter().map(|t| t.map(|t| t.0))),
        Column::EveryTime(v) => required::<Int64Type, _>(group, v.iter().map(|t| t.0)),
        Column::Fixed(v) => required::<DoubleType, _>(group, v.iter().copied()),
        Column::Floats(v) | Column::PythonFloats(v) => {
            optional::<DoubleType, _>(group, v.iter().copied())
        }
        Column::Integers(v) => required::<Int64Type, _>(group, v.iter().map(|&n| n as i64)),
        Column::Whole(v) => put::<Int64Type, _>(group, v, None),
        Column::Spaced(v) => put_by_parts::<Int64Type, _>(group, v.iter()),
        Column::OptionalWhole(v) => optional::<Int64Type, _>(group, v.iter().copied()),
        Column::Texts(v) => {
            required::<ByteArrayType, _>(group, v.iter().map(|t| ByteArray::from(t.as_ref())))
        }
        Column::Names { names, indices } => {
            // Cloning a ByteArray copies no text.
            let names: Vec<ByteArray> = names.iter().map(|&n| ByteArray::from(n)).collect();
            required::<ByteArrayType, _>(group, indices.iter().map(|&i| names[i as usize].clone()))
        }
        Column::RepeatedFloats(v) => {
            Dictionary::of_numbers(v, |x| x.to_bits()).append(group, descr)
        }
        Column::RepeatedIntegers(v) => Dictionary::of_numbers(v, |&n| n).append(group, descr),
        Column::RepeatedNames { names, indices } => {
            Dictionary::of_names(names, indices).append(group, descr)
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
