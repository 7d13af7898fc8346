//! Reads event logs in Parquet, wide or long.

use std::collections::BTreeMap;

use super::Read;
use super::assemble::{EXPECTED_STATE, EXPECTED_TIME, place_or_fault};
use super::classes;
use super::columns::ColumnScan;
use super::long::{EXPECTED_COLUMNS, LongBuilder, STATE_NAMES};
use super::placing::Placing;
use gleaner_domain::clock::ParseClockError;
use gleaner_domain::error::Result;
use gleaner_domain::{EventLog, Fingerprint, NodeClasses, Quality, Utc};
use gleaner_io::Gatherer;
use gleaner_io::fault::{Place, show};
use gleaner_io::parquet::{Column, Table, Value};
use gleaner_io::source::Source;

/// The metadata key under which files written by this program store the log's [`Fingerprint`], in hexadecimal.
pub const FINGERPRINT_KEY: &str = "gleaner.log.sha256";

/// The metadata key under which files store the log's clock.
pub(crate) const CLOCK_KEY: &str = "gleaner.clock";

/// The metadata key under which files store the log's [`Quality`].
pub(crate) const QUALITY_KEY: &str = "gleaner.quality";

/// The metadata key under which files store the classes of the log's nodes.
pub(crate) const CLASSES_KEY: &str = "gleaner.classes";

/// The schema name of files that contain node classes. A file can lose all of its metadata through damage, and then
/// looks like a file from another program. The schema name then reveals that the classes are missing.
pub(crate) const CLASSED_SCHEMA: &str = "events_with_classes";

pub(super) fn read(source: &Source, mut placing: Placing) -> Result<Read> {
    let table = Table::open(source)?;
    describe(source, &table, &mut placing)?;
    let quality = quality(source, &table)?;
    let is_long = table.column("node").is_some() && state_column(&table).is_some();
    let mut read = if is_long {
        read_long(source, &table, placing)?
    } else {
        read_wide(source, &table, placing)?
    };
    refuse_damaged(source, &table, &read.0)?;
    read.0 = read.0.with_quality(quality);
    let classes = table.metadata(CLASSES_KEY);
    if classes.is_none() && table.name() == CLASSED_SCHEMA {
        let fault = source.fault(
            "no classes of nodes: the file is damaged",
            "the classes as they were written",
        );
        return Err(fault.field(CLASSES_KEY).remedy("recreate the file").into());
    }
    if let Some(text) = classes {
        let classes = described_classes(source, text, read.0.nodes().len())?;
        read.0 = read.0.with_classes(Some(classes));
    }
    Ok(read)
}

/// Refuses a log whose fingerprint differs from the fingerprint in the file's metadata. Files from other programs have
/// no fingerprint and are accepted.
fn refuse_damaged(source: &Source, table: &Table<'_>, log: &EventLog) -> Result<()> {
    let Some(expected) = table.metadata(FINGERPRINT_KEY) else {
        return Ok(());
    };
    let descriptions = [QUALITY_KEY, CLASSES_KEY].map(|key| table.metadata(key));
    let found = Fingerprint::of(
        log,
        table.metadata(CLOCK_KEY),
        descriptions.into_iter().flatten(),
    );
    if found.to_string() == expected {
        return Ok(());
    }
    let found = "a log that does not match its checksum: the file is damaged";
    let fault = source.fault(found, "the log as it was written");
    Err(fault.remedy("recreate the file").into())
}

/// Passes the clock that the file's metadata describes, if any, to `placing`.
fn describe(source: &Source, table: &Table<'_>, placing: &mut Placing) -> Result<()> {
    let Some(text) = table.metadata(CLOCK_KEY) else {
        return Ok(());
    };
    let clock = text.parse();
    placing.describe(clock.map_err(|error: ParseClockError| {
        let fault = source.fault(show(text.as_bytes()), error.to_string());
        fault.field(CLOCK_KEY)
    })?);
    Ok(())
}

/// The log's quality, if the file states it.
fn quality(source: &Source, table: &Table<'_>) -> Result<Option<Quality>> {
    let Some(text) = table.metadata(QUALITY_KEY) else {
        return Ok(None);
    };
    match Quality::from_text(text) {
        Some(quality) => Ok(Some(quality)),
        None => {
            let fault = source.fault(
                show(text.as_bytes()),
                "the quality of an event log, as JSON",
            );
            Err(fault.field(QUALITY_KEY).remedy("recreate the file").into())
        }
    }
}

/// The classes of the nodes, from the text in the file's metadata.
fn described_classes(source: &Source, text: &str, nodes: usize) -> Result<NodeClasses> {
    classes::from_text(text, nodes).ok_or_else(|| {
        let fault = source.fault(
            show(text.as_bytes()),
            "the names of the classes and a class for every node, as JSON",
        );
        fault.field(CLASSES_KEY).remedy("recreate the file").into()
    })
}

fn read_wide(source: &Source, table: &Table<'_>, mut placing: Placing) -> Result<Read> {
    let time = time_column(table);
    let Some(time_column) = table.columns().get(time) else {
        let fault = source.fault("no columns", "a time and a column for every node");
        return Err(fault.into());
    };
    let (before, after) = (&table.columns()[..time], &table.columns()[time + 1..]);
    let nodes = || before.iter().chain(after);
    let names = nodes().map(|column| column.name.clone()).collect();
    let mut scan = ColumnScan::new(source.path(), names, table.rows())?;
    let times = times(source, table, time_column, &mut placing, scan.faults())?;
    let mut states = Vec::with_capacity(table.rows());
    for (node, column) in nodes().enumerate() {
        states.clear();
        table.visit(column, |row, value| {
            // A cell with a fault counts as busy, which has no effect because a log with faults is rejected.
            states.push(state(value).unwrap_or_default());
            match state(value) {
                Some(_) => Ok(()),
                None => scan.bad_cell(row, node, value.to_string()),
            }
        })?;
        scan.column(node, &states)?;
    }
    scan.finish(&times, placing)
}

/// The index of the time column in a wide table.
fn time_column(table: &Table<'_>) -> usize {
    let named = |name| {
        table
            .columns()
            .iter()
            .position(|column| column.name == name)
    };
    named("time")
        .or_else(|| named("__index_level_0__"))
        .unwrap_or(0)
}

/// Returns the state column of a long table.
fn state_column<'t>(table: &'t Table<'_>) -> Option<&'t Column> {
    STATE_NAMES.iter().find_map(|name| table.column(name))
}

fn read_long(source: &Source, table: &Table<'_>, mut placing: Placing) -> Result<Read> {
    let class = table.column(classes::COLUMN);
    let width = 3 + usize::from(class.is_some());
    let (Some(time), Some(node), Some(state), true) = (
        table.column("time"),
        table.column("node"),
        state_column(table),
        table.columns().len() == width,
    ) else {
        let names: Vec<_> = table.columns().iter().map(|c| c.name.as_str()).collect();
        let found = format!("the columns {}", names.join(", "));
        return Err(source.fault(found, EXPECTED_COLUMNS).into());
    };
    let mut faults = Gatherer::default();
    let times = times(source, table, time, &mut placing, &mut faults)?;
    let mut long = LongBuilder::new(source.path(), placing);
    *long.log.faults() = faults;
    let nodes = Names::of(source, table, node, "a node's name")?;
    let classes = class.map(|class| Names::of(source, table, class, "the name of a class"));
    let classes = classes.transpose()?;
    table.visit(state, |row, value| {
        let (time, place) = (times[row], Place::Row(row));
        let Some(node) = nodes.at(row) else {
            return match value {
                Value::Null => long.begin(time, place),
                _ => long.log.fault(place, "node", "nothing", "a node's name"),
            };
        };
        let Some(state) = self::state(value) else {
            let found = value.to_string();
            return long.log.fault(place, "state", found, EXPECTED_STATE);
        };
        let node = long.mention(time, node, state == 1, place)?;
        match &classes {
            None => Ok(()),
            Some(classes) => {
                let class = classes.at(row).unwrap_or_default();
                long.class(node, class.as_bytes(), place)
            }
        }
    })?;
    long.finish()
}

/// The names in a column.
struct Names {
    /// The distinct names.
    names: Vec<String>,
    /// For every row, the index of its name; `None` for an empty cell.
    rows: Vec<Option<usize>>,
}

impl Names {
    /// Reads a column. In messages, `expected` describes its cells.
    fn of(source: &Source, table: &Table<'_>, column: &Column, expected: &str) -> Result<Self> {
        let mut index = BTreeMap::new();
        let mut names = Vec::new();
        let mut rows = Vec::with_capacity(table.rows());
        let mut faults = Gatherer::default();
        table.visit(column, |row, value| {
            let name = match value {
                Value::Null => {
                    rows.push(None);
                    return Ok(());
                }
                Value::Text(text) if !text.is_empty() => {
                    std::str::from_utf8(text).ok().map(str::to_owned)
                }
                Value::Int(number) => Some(number.to_string()),
                _ => None,
            };
            let Some(name) = name else {
                rows.push(None);
                let fault = source.fault(value.to_string(), expected);
                return faults.add(fault.at(Place::Row(row)).field(column.name.as_str()));
            };
            let next = names.len();
            let node = *index.entry(name).or_insert_with_key(|name| {
                names.push(name.clone());
                next
            });
            rows.push(Some(node));
            Ok(())
        })?;
        faults.finish(Names { names, rows })
    }

    /// The name in a row; `None` if the cell is empty.
    fn at(&self, row: usize) -> Option<&str> {
        self.rows[row].map(|name| self.names[name].as_str())
    }
}

/// The times of all rows. A row with an invalid time gets the time of the previous row, which has no effect because a
/// log with faults is rejected.
fn times(
    source: &Source,
    table: &Table<'_>,
    column: &Column,
    placing: &mut Placing,
    faults: &mut Gatherer,
) -> Result<Vec<Utc>> {
    let mut times = Vec::with_capacity(table.rows());
    let mut last = Utc(i64::MIN);
    table.visit(column, |row, value| {
        match value.stamp(column) {
            Some(stamp) => {
                last = place_or_fault(placing, faults, source.path(), stamp, Place::Row(row))?;
            }
            None => {
                let fault = source.fault(value.to_string(), EXPECTED_TIME);
                let fault = fault.at(Place::Row(row));
                faults.add(fault.field(column.name.as_str()))?;
            }
        }
        times.push(last);
        Ok(())
    })?;
    Ok(times)
}

/// The state 0 or 1, or `None` if the value is neither.
fn state(value: Value<'_>) -> Option<u8> {
    match value {
        Value::Bool(idle) => Some(u8::from(idle)),
        Value::Int(state @ 0..=1) => u8::try_from(state).ok(),
        Value::Float(0.0) => Some(0),
        Value::Float(1.0) => Some(1),
        _ => None,
    }
}
