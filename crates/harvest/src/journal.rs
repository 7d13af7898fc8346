//! The journal: every event that the core has handled, in order, in one file that survives crashes.
//!
//! The file is a redb database. A batch of entries is one transaction, which is on disk when [`Journal::append`]
//! returns. After a crash, the file contains either the whole batch or none of it.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use gleaner_domain::error::{Error, Result};
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};

use crate::core::{Entry, Millis, Settings};

/// The entries as JSON, numbered from 0.
const ENTRIES: TableDefinition<u64, &[u8]> = TableDefinition::new("entries");
/// The version, the settings of the core, and the time at which the journal was begun, as JSON.
const ABOUT: TableDefinition<&str, &[u8]> = TableDefinition::new("about");

/// Version of the journal's format.
const VERSION: &[u8] = b"1";

/// Memory that redb may use for pages of the file, in bytes.
const CACHE: usize = 16 << 20;

/// An open journal. No other process can open it at the same time.
pub struct Journal {
    database: Database,
    path: PathBuf,
    begun: Millis,
    settings: Settings,
    /// Number of the next entry.
    next: u64,
}

impl Journal {
    /// Opens the journal at `path`, or begins a new one there at the time `now` and with these settings. An existing
    /// journal keeps the settings with which it was begun. Later changes are among its entries.
    ///
    /// # Errors
    /// The file cannot be read or written, is in use, or is not a journal of this version.
    pub fn open(path: &Path, settings: &Settings, now: Millis) -> Result<Self> {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE);
        let database = builder.create(path).map_err(|e| failed(path, e))?;
        let mut journal = Journal {
            database,
            path: path.to_owned(),
            begun: now,
            settings: settings.clone(),
            next: 0,
        };
        journal.begin()?;
        Ok(journal)
    }

    /// Writes the version, the settings and the time to a new journal, or reads those of an existing one.
    fn begin(&mut self) -> Result<()> {
        let own = serde_json::to_vec(&self.settings).map_err(|e| self.failed(e))?;
        let now = self.begun.to_string().into_bytes();
        let write = self.database.begin_write().map_err(|e| self.failed(e))?;
        {
            let mut about = write.open_table(ABOUT).map_err(|e| self.failed(e))?;
            let version = self.value(&about, "version")?;
            let kept = self.value(&about, "settings")?;
            let begun = self.value(&about, "begun")?;
            match (version.as_deref(), kept, begun) {
                (None, None, None) => {
                    for (key, value) in [
                        ("version", VERSION),
                        ("settings", own.as_slice()),
                        ("begun", now.as_slice()),
                    ] {
                        about.insert(key, value).map_err(|e| self.failed(e))?;
                    }
                }
                (Some(VERSION), Some(kept), Some(begun)) => {
                    self.settings = serde_json::from_slice(&kept).map_err(|e| self.failed(e))?;
                    self.begun = serde_json::from_slice(&begun).map_err(|e| self.failed(e))?;
                }
                _ => return Err(self.failed("found another version of the journal's format")),
            }
            let entries = write.open_table(ENTRIES).map_err(|e| self.failed(e))?;
            let last = entries.last().map_err(|e| self.failed(e))?;
            self.next = last.map_or(0, |(number, _)| number.value() + 1);
        }
        write.commit().map_err(|e| self.failed(e))
    }

    fn value(
        &self,
        table: &impl ReadableTable<&'static str, &'static [u8]>,
        key: &str,
    ) -> Result<Option<Vec<u8>>> {
        let found = table.get(key).map_err(|e| self.failed(e))?;
        Ok(found.map(|value| value.value().to_vec()))
    }

    /// The settings with which the journal was begun.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// When the journal was begun.
    pub fn begun(&self) -> Millis {
        self.begun
    }

    /// Whether the journal has no entries.
    pub fn is_empty(&self) -> bool {
        self.next == 0
    }

    /// Number of entries.
    pub fn len(&self) -> u64 {
        self.next
    }

    /// Appends entries. They are on disk when this function returns.
    ///
    /// # Errors
    /// The file cannot be written. The journal must not be used afterwards.
    pub fn append(&mut self, entries: &[Entry]) -> Result<()> {
        let write = self.database.begin_write().map_err(|e| self.failed(e))?;
        {
            let mut table = write.open_table(ENTRIES).map_err(|e| self.failed(e))?;
            for (number, entry) in (self.next..).zip(entries) {
                let json = serde_json::to_vec(entry).map_err(|e| self.failed(e))?;
                let written = table.insert(number, json.as_slice());
                written.map_err(|e| self.failed(e))?;
            }
        }
        write.commit().map_err(|e| self.failed(e))?;
        self.next += entries.len() as u64;
        Ok(())
    }

    /// All entries, in order.
    ///
    /// # Errors
    /// The file cannot be read. An item is an error if the entry cannot be read or is missing.
    pub fn entries(&self) -> Result<impl Iterator<Item = Result<Entry>>> {
        let read = self.database.begin_read().map_err(|e| self.failed(e))?;
        let table = read.open_table(ENTRIES).map_err(|e| self.failed(e))?;
        let range = table.range::<u64>(..).map_err(|e| self.failed(e))?;
        Ok((0..).zip(range).map(|(expected, found)| {
            let (number, json) = found.map_err(|e| self.failed(e))?;
            if number.value() != expected {
                return Err(self.failed(format!("entry {expected} is missing")));
            }
            let entry = serde_json::from_slice(json.value());
            entry.map_err(|e| self.failed(format!("entry {expected}: {e}")))
        }))
    }

    fn failed(&self, error: impl Display) -> Error {
        failed(&self.path, error)
    }
}

fn failed(path: &Path, error: impl Display) -> Error {
    Error::Run(format!("the journal {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Event;

    fn settings() -> Settings {
        crate::config::Config::example().core
    }

    fn entry(time: i64) -> Entry {
        Entry {
            time,
            event: Event::Drain,
            decision: None,
        }
    }

    fn times(journal: &Journal) -> Vec<i64> {
        let entries = journal.entries().unwrap();
        entries.map(|entry| entry.unwrap().time).collect()
    }

    #[test]
    fn entries_are_in_the_file_as_soon_as_they_are_appended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.redb");
        let mut journal = Journal::open(&path, &settings(), 5).unwrap();
        assert!(journal.is_empty());
        for batch in [&[1, 2][..], &[3], &[]] {
            let batch: Vec<Entry> = batch.iter().copied().map(entry).collect();
            journal.append(&batch).unwrap();
            // A copy of the open file equals the file that a killed daemon leaves behind.
            let copy = folder.path().join(format!("killed-{}", journal.len()));
            std::fs::copy(&path, &copy).unwrap();
            let mut killed = Journal::open(&copy, &settings(), 6).unwrap();
            assert_eq!(times(&killed), times(&journal));
            killed.append(&[entry(9)]).unwrap();
            assert_eq!(times(&killed).last(), Some(&9));
        }
        drop(journal);
        let again = Journal::open(&path, &settings(), 5).unwrap();
        assert_eq!((times(&again), again.len()), (vec![1, 2, 3], 3));
        assert_eq!(again.begun(), 5);
    }

    #[test]
    fn a_journal_is_open_only_once_and_keeps_its_settings() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.redb");
        let journal = Journal::open(&path, &settings(), 5).unwrap();
        assert!(Journal::open(&path, &settings(), 5).is_err());
        drop(journal);
        let other = Settings {
            max_tasks: 7,
            ..settings()
        };
        let again = Journal::open(&path, &other, 7).unwrap();
        assert_eq!(again.settings(), &settings());
        drop(again);
        std::fs::write(&path, "not a journal").unwrap();
        assert!(Journal::open(&path, &settings(), 5).is_err());
    }
}
