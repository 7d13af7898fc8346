//! Writes event logs as Parquet: times in nanoseconds, states as `int8`.
//!
//! If the log's clock is known, times are in UTC, and the file's metadata describes the clock. Otherwise, times are
//! local. The metadata also contains a digest of the log, because Parquet's own checksums are optional and rarely
//! checked.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::long_rows;
use crate::events::classes;
use crate::events::{CLASSED_SCHEMA, CLASSES_KEY, CLOCK_KEY, FINGERPRINT_KEY, QUALITY_KEY};
use gleaner_domain::Digest;
use gleaner_domain::{Change, Clock, EventLog, Fingerprint, NodeClasses, Quality, Utc};
use gleaner_io::parquet_column::{io_error, put};

/// Maximum number of rows in a row group of the long form.
const LONG_GROUP: usize = 1 << 20;

pub(super) fn write_long(log: &EventLog, out: impl Write + Send) -> io::Result<()> {
    let has_classes = log.classes().is_some();
    let mut writer = LongWriter::new(log.nodes(), log.clock(), has_classes, out)?;
    for (time, change) in long_rows(log) {
        writer.push(time, change)?;
    }
    let descriptions = Descriptions::of(log.quality(), log.classes());
    writer
        .finish(fingerprint(log, &descriptions), descriptions)
        .map(drop)
}

/// The metadata that describes a log, except for its clock.
pub(super) struct Descriptions {
    /// The keys of the metadata, each with its text, in the order in which they are hashed.
    texts: Vec<(&'static str, String)>,
}

impl Descriptions {
    /// The descriptions of a log with this quality and these classes.
    pub fn of(quality: Option<&Quality>, classes: Option<&NodeClasses>) -> Self {
        let quality = quality.map(|quality| (QUALITY_KEY, quality.to_text()));
        let classes = classes.map(|classes| (CLASSES_KEY, classes::to_text(classes)));
        Descriptions {
            texts: quality.into_iter().chain(classes).collect(),
        }
    }

    /// The texts of the descriptions.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|(_, text)| text.as_str())
    }
}

/// Writes a log in the long form, row by row, with one row group in memory at a time.
pub(super) struct LongWriter<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    names: Vec<ByteArray>,
    times: Vec<i64>,
    nodes: Vec<ByteArray>,
    states: Vec<i32>,
    /// 1 for a row with a node and a state, 0 for a row without a node.
    present: Vec<i16>,
}

impl<W: Write + Send> LongWriter<W> {
    /// Starts the table for a log with these nodes and this clock. `has_classes` states whether the nodes have classes.
    pub fn new(nodes: &[String], clock: &Clock, has_classes: bool, out: W) -> io::Result<Self> {
        let fields = long_fields(clock);
        let writer = fields.and_then(|fields| open(out, fields, clock, has_classes));
        let names = nodes.iter().map(|name| ByteArray::from(name.as_str()));
        Ok(LongWriter {
            writer: writer.map_err(io_error)?,
            names: names.collect(),
            times: Vec::new(),
            nodes: Vec::new(),
            states: Vec::new(),
            present: Vec::new(),
        })
    }

    /// Adds a row. If `change` is `None`, the row has no node.
    pub fn push(&mut self, time: Utc, change: Option<Change>) -> io::Result<()> {
        if self.times.len() == LONG_GROUP {
            self.end_group().map_err(io_error)?;
        }
        self.times.push(time.0);
        self.present.push(i16::from(change.is_some()));
        if let Some(change) = change {
            self.nodes.push(self.names[change.node() as usize].clone());
            self.states.push(i32::from(change.idle()));
        }
        Ok(())
    }

    /// Writes the remaining rows, and the log's fingerprint and descriptions. Returns the underlying writer.
    pub fn finish(mut self, digest: Digest, descriptions: Descriptions) -> io::Result<W> {
        if !self.times.is_empty() {
            self.end_group().map_err(io_error)?;
        }
        sign(&mut self.writer, digest, descriptions);
        self.writer.into_inner().map_err(io_error)
    }

    fn end_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        put::<Int64Type, W>(&mut group, &self.times, None)?;
        put::<ByteArrayType, W>(&mut group, &self.nodes, Some(&self.present))?;
        put::<Int32Type, W>(&mut group, &self.states, Some(&self.present))?;
        group.close()?;
        self.times.clear();
        self.nodes.clear();
        self.states.clear();
        self.present.clear();
        Ok(())
    }
}

pub(super) fn write_wide(log: &EventLog, out: impl Write + Send) -> io::Result<()> {
    let written = wide_fields(log).and_then(|fields| {
        let mut writer = open(out, fields, log.clock(), log.classes().is_some())?;
        wide_group(log, &mut writer)?;
        let descriptions = Descriptions::of(log.quality(), log.classes());
        sign(&mut writer, fingerprint(log, &descriptions), descriptions);
        writer.close().map(drop)
    });
    written.map_err(io_error)
}

fn fingerprint(log: &EventLog, descriptions: &Descriptions) -> Digest {
    let clock = described(log.clock());
    Fingerprint::of(log, clock.as_deref(), descriptions.texts())
}

/// Writes a log's descriptions and fingerprint into the file's metadata.
fn sign<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    digest: Digest,
    descriptions: Descriptions,
) {
    let digest = (FINGERPRINT_KEY, digest.to_string());
    for (key, text) in descriptions.texts.into_iter().chain([digest]) {
        writer.append_key_value_metadata(KeyValue::new(key.to_owned(), text));
    }
}

fn open<W: Write + Send>(
    out: W,
    fields: Vec<Type>,
    clock: &Clock,
    has_classes: bool,
) -> Result<SerializedFileWriter<W>, ParquetError> {
    let fields = fields.into_iter().map(Arc::new).collect();
    let clock = described(clock).map(|text| KeyValue::new(CLOCK_KEY.to_owned(), text));
    let name = if has_classes {
        CLASSED_SCHEMA
    } else {
        "events"
    };
    let schema = Type::group_type_builder(name).with_fields(fields).build()?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_statistics_enabled(EnabledStatistics::None)
        .set_key_value_metadata(clock.map(|clock| vec![clock]))
        .build();
    SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))
}

/// The description of a clock in a file's metadata; `None` if the clock is unknown.
pub(super) fn described(clock: &Clock) -> Option<String> {
    clock.is_known().then(|| clock.to_string())
}

fn long_fields(clock: &Clock) -> Result<Vec<Type>, ParquetError> {
    let node = Type::primitive_type_builder("node", Physical::BYTE_ARRAY)
        .with_logical_type(Some(LogicalType::String))
        .with_repetition(Repetition::OPTIONAL)
        .build()?;
    Ok(vec![
        time_field(clock)?,
        node,
        state_field("state", Repetition::OPTIONAL)?,
    ])
}

fn wide_fields(log: &EventLog) -> Result<Vec<Type>, ParquetError> {
    let states = log
        .nodes()
        .iter()
        .map(|node| state_field(node, Repetition::REQUIRED));
    std::iter::once(time_field(log.clock()))
        .chain(states)
        .collect()
}

fn time_field(clock: &Clock) -> Result<Type, ParquetError> {
    Type::primitive_type_builder("time", Physical::INT64)
        .with_logical_type(Some(LogicalType::timestamp(
            clock.is_known(),
            TimeUnit::NANOS,
        )))
        .with_repetition(Repetition::REQUIRED)
        .build()
}

fn state_field(name: &str, repetition: Repetition) -> Result<Type, ParquetError> {
    Type::primitive_type_builder(name, Physical::INT32)
        .with_logical_type(Some(LogicalType::integer(8, true)))
        .with_repetition(repetition)
        .build()
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
        // Every node is busy up to its first change, and each change flips the node's state.
        for (state, end) in (0..).zip(rows.iter().chain([&log.len()])) {
            states.resize(*end, state % 2);
        }
        put::<Int32Type, W>(&mut group, &states, None)?;
    }
    group.close().map(drop)
}
