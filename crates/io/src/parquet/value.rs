//! The values of cells, and the meaning of stored numbers.

use std::collections::BTreeMap;
use std::fmt;

use ::parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use ::parquet::file::metadata::ParquetMetaData;
use ::parquet::schema::types::ColumnDescriptor;

use super::Column;
use crate::fault::show;
use gleaner_domain::{Local, Stamp, Utc};

/// The value of a cell, or of an element if the cell is a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'v> {
    /// The cell is missing.
    Null,
    /// In a column of lists: the list of this row is missing or has no elements.
    Empty,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// Text, which need not be valid UTF-8.
    Text(&'v [u8]),
    /// A timestamp, in UTC or local time depending on its column; `None` if it is outside the years 1677 to 2262.
    Time(Option<Local>),
}

impl Value<'_> {
    /// The value of a cell of `column` as a time, with or without an offset from UTC.
    pub fn stamp(self, column: &Column) -> Option<Stamp> {
        match self {
            Value::Text(text) => std::str::from_utf8(text).ok()?.parse().ok(),
            Value::Time(_) if column.utc => {
                let utc = self.time()?.from_offset(0);
                Some(Stamp::Zoned { utc, offset: 0 })
            }
            Value::Time(_) => self.time().map(Stamp::Local),
            _ => self.time().map(|time| Stamp::Epoch(time.from_offset(0))),
        }
    }

    /// The value as a time, without conversion: a timestamp, seconds since 1970, or a string without an offset from
    /// UTC.
    pub fn time(self) -> Option<Local> {
        match self {
            // pandas writes `i64::MIN` for a missing timestamp.
            Value::Time(time) => time.filter(|time| *time != Local(i64::MIN)),
            Value::Int(seconds) => seconds.checked_mul(1_000_000_000).map(Local),
            Value::Float(seconds) => Some(Utc::from_fractional_seconds(seconds)?.at_offset(0)),
            Value::Text(text) => std::str::from_utf8(text).ok()?.parse().ok(),
            Value::Null | Value::Empty | Value::Bool(_) => None,
        }
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null | Value::Empty => f.write_str("nothing"),
            Value::Bool(value) => value.fmt(f),
            Value::Int(value) => value.fmt(f),
            Value::Float(value) => value.fmt(f),
            Value::Text(text) => f.write_str(&show(text)),
            Value::Time(Some(time)) => time.fmt(f),
            Value::Time(None) => f.write_str("a time out of range"),
        }
    }
}

/// The meaning of the numbers in a stored column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Plain numbers.
    Plain,
    /// Times since 1970, in units of this many nanoseconds.
    Time(i64),
    /// Values of a type that no reader needs, such as decimal numbers.
    Unread,
}

/// Whether the timestamps of a stored column are in UTC rather than in local time.
pub(super) fn is_utc(descr: &ColumnDescriptor) -> bool {
    matches!(
        descr.logical_type_ref(),
        Some(LogicalType::Timestamp(stamp)) if stamp.is_adjusted_to_u_t_c
    )
}

/// Reads the time zone of each column's timestamps from the metadata that pandas adds to a file. `None` for a column
/// without a zone.
pub(super) fn zones(metadata: &ParquetMetaData, columns: &[Column]) -> Vec<Option<String>> {
    /// Maximum size of the pandas metadata, in bytes. Longer metadata is ignored.
    const LIMIT: usize = 4 << 20;
    let pairs = metadata.file_metadata().key_value_metadata();
    let pandas = pairs
        .into_iter()
        .flatten()
        .find(|pair| pair.key == "pandas");
    let text = pandas.and_then(|pair| pair.value.as_deref());
    let text = text.filter(|text| text.len() <= LIMIT).unwrap_or_default();
    let noted: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let noted = noted["columns"].as_array().map_or(&[][..], Vec::as_slice);
    let noted = noted.iter().filter_map(|column| {
        let zone = column["metadata"]["timezone"].as_str()?;
        Some((column["field_name"].as_str()?, zone))
    });
    let noted: BTreeMap<&str, &str> = noted.collect();
    let zone = |column: &Column| {
        let zone = noted.get(column.name.as_str()).filter(|_| column.utc)?;
        Some((*zone).to_owned())
    };
    columns.iter().map(zone).collect()
}

impl Meaning {
    /// The meaning of the numbers in this stored column.
    pub fn of(descr: &ColumnDescriptor) -> Self {
        const DAY: i64 = 86_400 * 1_000_000_000;
        match descr.logical_type_ref() {
            Some(LogicalType::Date) => return Meaning::Time(DAY),
            Some(LogicalType::Timestamp(stamp)) => {
                return match stamp.unit {
                    TimeUnit::MILLIS => Meaning::Time(1_000_000),
                    TimeUnit::MICROS => Meaning::Time(1_000),
                    TimeUnit::NANOS => Meaning::Time(1),
                };
            }
            Some(LogicalType::Decimal(_) | LogicalType::Time(_)) => return Meaning::Unread,
            _ => {}
        }
        match descr.converted_type() {
            ConvertedType::DATE => Meaning::Time(DAY),
            ConvertedType::TIMESTAMP_MILLIS => Meaning::Time(1_000_000),
            ConvertedType::TIMESTAMP_MICROS => Meaning::Time(1_000),
            ConvertedType::DECIMAL
            | ConvertedType::TIME_MILLIS
            | ConvertedType::TIME_MICROS
            | ConvertedType::INTERVAL => Meaning::Unread,
            _ => Meaning::Plain,
        }
    }

    /// The value of a stored number.
    pub fn value(self, number: i64) -> Value<'static> {
        match self {
            Meaning::Time(nanos) => Value::Time(number.checked_mul(nanos).map(Local)),
            Meaning::Plain | Meaning::Unread => Value::Int(number),
        }
    }
}
