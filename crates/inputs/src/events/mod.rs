//! Reads event logs, which record when each node becomes idle or busy.
//!
//! # Formats
//!
//! - The original's **pandas pickle**: a DataFrame with one row per event (a `DatetimeIndex`) and
//!   one column per node, 1 for idle and 0 for busy. The pickle may be inside a `.gz`, `.tar` or
//!   `.tar.gz`.
//! - **Wide** CSV and Parquet: the same table. In CSV the first column is the time, whatever its name. In Parquet, the
//!   time is the column `time` if there is one, otherwise the index that pandas stored (`__index_level_0__`), and
//!   otherwise the first column.
//! - **Long** CSV and Parquet: columns `time`, `node`, `state` and optionally `class`, in any order. See [`long`].
//! - **`.gev`**, this program's cache. See [`gev`].
//!
//! Times are seconds since 1970, or strings such as `2021-02-10 20:21:15` with or without an offset such as `+01:00`.
//! Parquet files may also contain timestamps of any unit. Times must not decrease from row to row.
//! [`gleaner_domain::Clock`] describes the clock of a log. A time zone specified by the user takes precedence over the
//! clock of the file.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

use gleaner_domain::error::{Error, Result};
use gleaner_domain::{EventLog, EventLogBuilder, Stamp};
use gleaner_io::fault::Place;
use gleaner_io::source::{Kind, STDIN, Source};
use gleaner_io::{Gatherer, Loaded, SourceId};
use gleaner_logs::zone::Zone;

pub mod gev;
pub mod long;

pub(crate) use parquet::{CLASSED_SCHEMA, CLASSES_KEY, CLOCK_KEY, QUALITY_KEY};

use assemble::place_or_fault;
use placing::Placing;

mod assemble;
pub(crate) mod classes;
mod columns;
mod csv;
mod csv_long;
mod csv_wide;
mod other;
mod parquet;
mod pickle;
mod placing;

/// An event log, and notes for the user about the times in the log.
type Read = (EventLog, Vec<String>);

pub use parquet::FINGERPRINT_KEY;

/// Reads an event log in any format, from a file or from stdin (`-`).
///
/// # Errors
/// The file cannot be read or has faults; see [`read_in`].
pub fn read(path: &Path) -> Result<Loaded<EventLog>> {
    read_in(path, None)
}

/// Reads an event log. If a time zone is given, local times are interpreted in that zone.
///
/// # Errors
/// The file cannot be read, or has faults, which are reported together. A `.gev` file is also refused if the file from
/// which it was made is in the same folder and has changed since.
pub fn read_in(path: &Path, zone: Option<&Zone>) -> Result<Loaded<EventLog>> {
    let source = Source::open(path)?;
    let (value, notes) = if source.kind() == Kind::Gev {
        let cache = gev::decode(source.path(), &source.read_all()?)?;
        refuse_stale(&source, &cache)?;
        match zone {
            None => (cache.log, Vec::new()),
            Some(zone) => moved(&source, &cache.log, zone)?,
        }
    } else {
        read_source(&source, Placing::in_zone(zone))?
    };
    Ok(Loaded {
        value,
        sources: vec![source.id().clone()],
        notes,
    })
}

/// Converts a log to the clock of a time zone. If the log's own clock is unknown, its times are interpreted as local
/// times in that zone.
fn moved(source: &Source, log: &EventLog, zone: &Zone) -> Result<Read> {
    let clock = log.clock();
    let mut placing = Placing::in_zone(Some(zone));
    let mut faults = Gatherer::default();
    let mut moved = EventLogBuilder::new(log.nodes().to_vec());
    for (row, (time, changes)) in log.rows().enumerate() {
        let stamp = if clock.is_known() {
            Stamp::Epoch(time)
        } else {
            Stamp::Local(time.at_offset(0))
        };
        let place = Place::Row(row);
        let time = place_or_fault(&mut placing, &mut faults, source.path(), stamp, place)?;
        moved.push_row(time, changes.iter().copied());
        log.queue(row)
            .into_iter()
            .for_each(|queue| moved.push_queue(queue));
    }
    moved.set_quality(log.quality().cloned());
    moved.set_classes(log.classes().cloned());
    let (clock, notes) = placing.finish();
    moved.set_clock(clock);
    faults.finish((moved.finish_trusted(), notes))
}

/// Reads an event log through its cache, `PATH.gev` in the same folder. A missing, damaged or stale
/// cache is rebuilt.
///
/// If the cache cannot be written, a note is returned instead of an error. A `.gev` file and stdin are read directly,
/// without a cache.
///
/// # Errors
/// The file cannot be read or has faults; see [`read`].
pub fn read_cached(path: &Path) -> Result<Loaded<EventLog>> {
    let source = Source::open(path)?;
    if source.kind() == Kind::Gev || path == Path::new(STDIN) {
        return read(path);
    }
    let cache_path = cache_path(path);
    let mut notes = Vec::new();
    let cached = cached_log(&cache_path, source.id(), &mut notes);
    let value = match cached {
        Some(log) => log,
        None => {
            let (log, remarks) = read_source(&source, Placing::default())?;
            notes.extend(remarks);
            match gev::write(&log, &cache_path, Some(source.id())) {
                Ok(()) => notes.push(format!("wrote the cache {}", cache_path.display())),
                Err(error) => notes.push(format!("continued without a cache: {error}")),
            }
            log
        }
    };
    Ok(Loaded {
        value,
        sources: vec![source.id().clone()],
        notes,
    })
}

/// The path of the cache that [`read_cached`] uses for `path`.
pub fn cache_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".gev");
    PathBuf::from(name)
}

/// The log in the cache, if the cache is valid and was made from the file `id`. Otherwise adds a note with the reason,
/// unless there is no cache.
fn cached_log(cache: &Path, id: &SourceId, notes: &mut Vec<String>) -> Option<EventLog> {
    let bytes = match std::fs::read(cache) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => {
            notes.push(format!(
                "cannot read the cache {}: {error}",
                cache.display()
            ));
            return None;
        }
    };
    match gev::decode(cache, &bytes) {
        Ok(found) if found.is_of(id) => Some(found.log),
        Ok(_) => {
            notes.push(format!(
                "the cache {} was made from another file or an earlier version of the file",
                cache.display()
            ));
            None
        }
        Err(error) => {
            notes.push(format!("the cache is unusable: {error}"));
            None
        }
    }
}

/// Reads an event log in the detected format of `source`.
fn read_source(source: &Source, placing: Placing) -> Result<Read> {
    other::refuse(source)?;
    let log = match source.kind() {
        Kind::Pickle => pickle::read(source, placing),
        Kind::Parquet => parquet::read(source, placing),
        Kind::Csv => csv::read(source, placing),
        Kind::Gev => {
            let cache = gev::decode(source.path(), &source.read_all()?)?;
            Ok((cache.log, Vec::new()))
        }
        Kind::Json | Kind::Toml => Err(source
            .fault(
                "JSON or TOML text",
                "an event log: a pandas pickle, CSV, Parquet or .gev",
            )
            .remedy("pass the task file as the other argument")
            .into()),
    }?;
    refuse_empty(source, log)
}

fn refuse_empty(source: &Source, (log, notes): Read) -> Result<Read> {
    if log.is_empty() {
        return Err(source.fault("no rows", "at least one event").into());
    }
    if log.nodes().is_empty() {
        return Err(source.fault("no nodes", "at least one node").into());
    }
    Ok((log, notes))
}

/// Refuses a cache if the file from which it was made is in the same folder and has changed.
fn refuse_stale(source: &Source, cache: &gev::Cache) -> Result<()> {
    if source.path() == Path::new(STDIN) {
        return Ok(());
    }
    let Some(origin) = cache.origin_beside(source.path()) else {
        return Ok(());
    };
    let read_error = |e| Error::io("read", &origin, e);
    let file = File::open(&origin).map_err(read_error)?;
    let length = file.metadata().map_err(read_error)?.len();
    // A different length proves that the file has changed. The file is therefore hashed only if its length is the same.
    if length == cache.source_length
        && gleaner_io::source::hash(file).map_err(read_error)?.1 == cache.source_sha256
    {
        return Ok(());
    }
    let (origin, path) = (origin.display(), source.path().display());
    Err(source
        .fault(
            format!("a cache that does not match {origin} in the same folder"),
            "a cache of the current file",
        )
        .remedy(format!(
            "run `gleaner convert {origin} -o {path}`, or remove one of the two files"
        ))
        .into())
}
