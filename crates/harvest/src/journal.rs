//! The journal stores the state of the core in one file that survives crashes.
//!
//! The file is a redb database. One table holds the settings and the last snapshot. Two other tables grow:
//!
//! - The entries are the events that the core has handled since the last snapshot, in order. A restarted daemon
//!   restores the snapshot and handles these events again. Once there are at least [`MOST_ENTRIES`] entries, a new
//!   snapshot replaces them.
//! - The batches of the recording are never removed. They are read only when a recording is written.
//!
//! Each batch of events is written in one transaction, together with a snapshot if a snapshot is due. The transaction
//! is on disk when [`Journal::append`] returns. After a crash, the file contains either the whole transaction or none
//! of it.

use std::fmt::Display;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use gleaner_domain::error::{Error, Result};
use redb::{
    Database, OwnedRange, ReadableDatabase, ReadableTable, Table, TableDefinition, TableHandle,
    WriteTransaction,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::core::{Entry, Millis, Recorded, Settings};

/// The entries since the last snapshot as JSON, numbered in the order in which they were written.
const ENTRIES: TableDefinition<u64, &[u8]> = TableDefinition::new("entries");
/// The batches of the recording as JSON, numbered from 0.
const BATCHES: TableDefinition<u64, &[u8]> = TableDefinition::new("batches");
/// Facts about the journal as JSON: its version, the core's settings, and the time at which it was begun. The table
/// also holds the last snapshot, and the number of the first entry after this snapshot.
const ABOUT: TableDefinition<&str, &[u8]> = TableDefinition::new("about");

/// Version of the journal's format.
const VERSION: &[u8] = b"2";

/// When the journal has this many entries or more, a snapshot replaces them.
pub const MOST_ENTRIES: u64 = 10_000;

/// Maximum size of redb's page cache, in bytes.
const CACHE: usize = 16 << 20;

/// An open journal. No other process can open it at the same time.
pub struct Journal {
    database: Database,
    path: PathBuf,
    begun: Millis,
    settings: Settings,
    /// Number of the first entry after the last snapshot.
    first: u64,
    /// Number of the next entry.
    next: u64,
    /// Number of the next batch of the recording.
    next_batch: u64,
    /// [`MOST_ENTRIES`], unless a test sets a smaller number.
    most_entries: u64,
}

impl Journal {
    /// Opens the journal at `path`. If there is none, begins a new journal with these settings at the time `now`. An
    /// existing journal keeps the settings with which it was begun. If the settings change later, the new settings are
    /// recorded in the entries or the snapshot, not here.
    ///
    /// # Errors
    /// The file cannot be read or written, is in use, or is not a journal of this version.
    pub fn open(path: &Path, settings: &Settings, now: Millis) -> Result<Self> {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE);
        let database = builder.create(path).map_err(|e| failed(path, e))?;
        Self::in_database(database, path, settings, now)
    }

    fn in_database(
        database: Database,
        path: &Path,
        settings: &Settings,
        now: Millis,
    ) -> Result<Self> {
        let mut journal = Journal {
            database,
            path: path.to_owned(),
            begun: now,
            settings: settings.clone(),
            first: 0,
            next: 0,
            next_batch: 0,
            most_entries: MOST_ENTRIES,
        };
        journal.begin()?;
        Ok(journal)
    }

    /// Writes the version, the settings and the time to a new journal, or reads those of an existing one.
    fn begin(&mut self) -> Result<()> {
        let write = self.database.begin_write().map_err(|e| self.failed(e))?;
        {
            let mut about = write.open_table(ABOUT).map_err(|e| self.failed(e))?;
            match self.value(&about, "version")?.as_deref() {
                None => self.begin_anew(&mut about)?,
                Some(VERSION) => {
                    self.settings = self.known(&about, "settings")?;
                    self.begun = self.known(&about, "begun")?;
                    self.first = self.known(&about, "first")?;
                }
                Some(found) => {
                    let (found, expected) = (String::from_utf8_lossy(found), "2");
                    return Err(self.failed(format!(
                        "found version {found} of the journal's format, expected version {expected}. Stop \
                         everything with the version of gleaner that wrote the journal, and then delete the state \
                         directory or choose another one with --state"
                    )));
                }
            }
            self.next = self.next_of(&write, ENTRIES)?.max(self.first);
            self.next_batch = self.next_of(&write, BATCHES)?;
        }
        write.commit().map_err(|e| self.failed(e))
    }

    fn begin_anew(&self, about: &mut Table<'_, &'static str, &'static [u8]>) -> Result<()> {
        for (key, value) in [
            ("version", VERSION.to_vec()),
            ("settings", self.json(&self.settings)?),
            ("begun", self.json(&self.begun)?),
            ("first", self.json(&self.first)?),
        ] {
            let inserted = about.insert(key, value.as_slice());
            inserted.map_err(|e| self.failed(e))?;
        }
        Ok(())
    }

    /// The number that the next item of a table will have. Creates the table if it is missing.
    fn next_of(&self, write: &WriteTransaction, table: TableDefinition<u64, &[u8]>) -> Result<u64> {
        let table = write.open_table(table).map_err(|e| self.failed(e))?;
        let last = table.last().map_err(|e| self.failed(e))?;
        Ok(last.map_or(0, |(number, _)| number.value() + 1))
    }

    fn value(
        &self,
        table: &impl ReadableTable<&'static str, &'static [u8]>,
        key: &str,
    ) -> Result<Option<Vec<u8>>> {
        let found = table.get(key).map_err(|e| self.failed(e))?;
        Ok(found.map(|value| value.value().to_vec()))
    }

    fn known<T: DeserializeOwned>(
        &self,
        table: &impl ReadableTable<&'static str, &'static [u8]>,
        key: &str,
    ) -> Result<T> {
        let found = self.value(table, key)?.unwrap_or_default();
        serde_json::from_slice(&found).map_err(|e| self.failed(format!("{key}: {e}")))
    }

    fn json(&self, value: &impl Serialize) -> Result<Vec<u8>> {
        serde_json::to_vec(value).map_err(|e| self.failed(e))
    }

    /// The settings with which the journal was begun.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Time at which the journal was begun.
    pub fn begun(&self) -> Millis {
        self.begun
    }

    /// Whether no entry has ever been written to the journal.
    pub fn is_empty(&self) -> bool {
        self.next == 0
    }

    /// Number of entries since the last snapshot.
    pub fn len(&self) -> u64 {
        self.next - self.first
    }

    /// Appends entries and the resulting batches of the recording. If the journal then has [`MOST_ENTRIES`] entries or
    /// more, replaces all of them with the result of `snapshot`, which must be the state of the core after these
    /// entries. Everything is on disk when this function returns.
    ///
    /// # Errors
    /// The file cannot be written, or `snapshot` fails. After an error, the journal must not be used.
    pub fn append(
        &mut self,
        entries: &[Entry],
        batches: &[Recorded],
        snapshot: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<()> {
        let next = self.next + entries.len() as u64;
        let is_full = next - self.first >= self.most_entries;
        let write = self.database.begin_write().map_err(|e| self.failed(e))?;
        if is_full {
            self.replace_entries(&write, &snapshot()?, next)?;
        } else {
            self.insert(&write, ENTRIES, self.next, entries)?;
        }
        self.insert(&write, BATCHES, self.next_batch, batches)?;
        write.commit().map_err(|e| self.failed(e))?;
        self.next = next;
        self.next_batch += batches.len() as u64;
        if is_full {
            self.first = next;
        }
        Ok(())
    }

    /// Appends items to a table, numbered from `first`.
    fn insert(
        &self,
        write: &WriteTransaction,
        table: TableDefinition<u64, &[u8]>,
        first: u64,
        items: &[impl Serialize],
    ) -> Result<()> {
        if items.is_empty() {
            return Ok(());
        }
        let mut table = write.open_table(table).map_err(|e| self.failed(e))?;
        for (number, item) in (first..).zip(items) {
            let written = table.insert(number, self.json(item)?.as_slice());
            written.map_err(|e| self.failed(e))?;
        }
        Ok(())
    }

    /// Replaces all entries with a snapshot. The next entry has the number `next`.
    fn replace_entries(&self, write: &WriteTransaction, snapshot: &[u8], next: u64) -> Result<()> {
        let mut about = write.open_table(ABOUT).map_err(|e| self.failed(e))?;
        for (key, value) in [
            ("snapshot", snapshot),
            ("first", self.json(&next)?.as_slice()),
        ] {
            about.insert(key, value).map_err(|e| self.failed(e))?;
        }
        write.delete_table(ENTRIES).map_err(|e| self.failed(e))?;
        let emptied = write.open_table(ENTRIES);
        emptied.map(drop).map_err(|e| self.failed(e))
    }

    /// The last snapshot, if there is one. [`Journal::entries`] returns the entries after it.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn snapshot(&self) -> Result<Option<Vec<u8>>> {
        let read = self.database.begin_read().map_err(|e| self.failed(e))?;
        let about = read.open_table(ABOUT).map_err(|e| self.failed(e))?;
        self.value(&about, "snapshot")
    }

    /// The entries since the last snapshot, in order.
    ///
    /// # Errors
    /// The file cannot be read. An item is an error if the entry cannot be read or is missing.
    pub fn entries(&self) -> Result<Items<Entry>> {
        self.items(ENTRIES, self.first)
    }

    /// The batches of the recording that are in the journal at the time of the call, in order. Another thread can read
    /// them while further entries are appended.
    ///
    /// # Errors
    /// The file cannot be read. An item is an error if the batch cannot be read or is missing.
    pub fn batches(&self) -> Result<Items<Recorded>> {
        self.items(BATCHES, 0)
    }

    fn items<T>(&self, table: TableDefinition<u64, &[u8]>, first: u64) -> Result<Items<T>> {
        let read = self.database.begin_read().map_err(|e| self.failed(e))?;
        let name = table.name().to_owned();
        let table = read.open_table(table).map_err(|e| self.failed(e))?;
        Ok(Items {
            range: table.range_owned::<u64>(..).map_err(|e| self.failed(e))?,
            next: first,
            name,
            path: self.path.clone(),
            kind: PhantomData,
        })
    }

    fn failed(&self, error: impl Display) -> Error {
        failed(&self.path, error)
    }
}

/// The items of a table, in order.
pub struct Items<T> {
    range: OwnedRange<u64, &'static [u8]>,
    /// Number of the next item.
    next: u64,
    /// Name of the table.
    name: String,
    path: PathBuf,
    kind: PhantomData<T>,
}

impl<T: DeserializeOwned> Iterator for Items<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        let found = self.range.next()?;
        let expected = self.next;
        self.next += 1;
        let place = |what: &dyn Display| format!("number {expected} of {}: {what}", self.name);
        Some(match found {
            Err(error) => Err(failed(&self.path, error)),
            Ok((number, _)) if number.value() != expected => {
                Err(failed(&self.path, place(&"missing")))
            }
            Ok((_, json)) => serde_json::from_slice(json.value())
                .map_err(|error| failed(&self.path, place(&error))),
        })
    }
}

fn failed(path: &Path, error: impl Display) -> Error {
    Error::Run(format!("the journal {}: {error}", path.display()))
}

#[cfg(test)]
mod tests;
