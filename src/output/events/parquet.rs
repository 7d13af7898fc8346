//! Event logs as Parquet: times in nanoseconds without a time zone, states as `int8`.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::long_rows;
use crate::domain::EventLog;
use crate::output::parquet_column::{io_error, put};

/// Rows of a row group in the long form.
const LONG_GROUP: usize = 1 << 20;

pub(super) fn write_long(log: &EventLog, out: impl Write + Send) -> io::Result<()> {
    let fields = long_fields().map_err(io_error)?;
    write_groups(log, out, fields, long_groups).map_err(io_error)
}

pub(super) fn write_wide(log: &EventLog, out: impl Write + Send) -> io::Result<()> {
    let fields = wide_fields(log).map_err(io_error)?;
    write_groups(log, out, fields, wide_group).map_err(io_error)
}

fn write_groups<W: Write + Send>(
    log: &EventLog,
    out: W,
    fields: Vec<Type>,
    groups: impl Fn(&EventLog, &mut SerializedFileWriter<W>) -> Result<(), ParquetError>,
) -> Result<(), ParquetError> {
    let fields = fields.into_iter().map(Arc::new).collect();
    let schema = Type::group_type_builder("events")
        .with_fields(fields)
        .build()?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    let mut writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
    groups(log, &mut writer)?;
    writer.close().map(drop)
}

fn long_fields() -> Result<Vec<Type>, ParquetError> {
    let node = Type::primitive_type_builder("node", Physical::BYTE_ARRAY)
        .with_logical_type(Some(LogicalType::String))
        .with_repetition(Repetition::OPTIONAL)
        .build()?;
    Ok(vec![
        time_field()?,
        node,
        state_field("state", Repetition::OPTIONAL)?,
    ])
}

fn wide_fields(log: &EventLog) -> Result<Vec<Type>, ParquetError> {
    let states = log
        .nodes()
        .iter()
        .map(|node| state_field(node, Repetition::REQUIRED));
    std::iter::once(time_field()).chain(states).collect()
}

fn time_field() -> Result<Type, ParquetError> {
    Type::primitive_type_builder("time", Physical::INT64)
        .with_logical_type(Some(LogicalType::timestamp(false, TimeUnit::NANOS)))
        .with_repetition(Repetition::REQUIRED)
        .build()
}

fn state_field(name: &str, repetition: Repetition) -> Result<Type, ParquetError> {
    Type::primitive_type_builder(name, Physical::INT32)
        .with_logical_type(Some(LogicalType::integer(8, true)))
        .with_repetition(repetition)
        .build()
}

fn long_groups<W: Write + Send>(
    log: &EventLog,
    writer: &mut SerializedFileWriter<W>,
) -> Result<(), ParquetError> {
    let names: Vec<_> = log
        .nodes()
        .iter()
        .map(|name| ByteArray::from(name.as_str()))
        .collect();
    let mut rows = long_rows(log).peekable();
    while rows.peek().is_some() {
        let rows: Vec<_> = rows.by_ref().take(LONG_GROUP).collect();
        let changes = || rows.iter().filter_map(|(_, change)| *change);
        let times: Vec<i64> = rows.iter().map(|(time, _)| time.0).collect();
        let nodes: Vec<_> = changes()
            .map(|c| names[c.node() as usize].clone())
            .collect();
        let states: Vec<_> = changes().map(|c| i32::from(c.idle())).collect();
        let present: Vec<_> = rows.iter().map(|(_, c)| i16::from(c.is_some())).collect();
        let mut group = writer.next_row_group()?;
        put::<Int64Type, W>(&mut group, &times, None)?;
        put::<ByteArrayType, W>(&mut group, &nodes, Some(&present))?;
        put::<Int32Type, W>(&mut group, &states, Some(&present))?;
        group.close()?;
    }
    Ok(())
}

fn wide_group<W: Write + Send>(
    log: &EventLog,
    writer: &mut SerializedFileWriter<W>,
) -> Result<(), ParquetError> {
    let mut flips = vec![Vec::new(); log.nodes().len()];
    for (row, (_, changes)) in log.rows().enumerate() {
        for change in changes {
            flips[change.node() as usize].push(row);
        }
    }
    let times: Vec<i64> = log.times().iter().map(|time| time.0).collect();
    let mut group = writer.next_row_group()?;
    put::<Int64Type, W>(&mut group, &times, None)?;
    let mut states = Vec::with_capacity(log.len());
    for rows in &flips {
        states.clear();
        // Every node is busy up to its first change, and each change flips it.
        for (state, end) in (0..).zip(rows.iter().chain([&log.len()])) {
            states.resize(*end, state % 2);
        }
        put::<Int32Type, W>(&mut group, &states, None)?;
    }
    group.close().map(drop)
}
