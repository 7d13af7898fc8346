//! Tests of the journal, including crashes at every write.

use std::io;
use std::sync::{Arc, Mutex};

use redb::StorageBackend;

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

fn batch(second: i64) -> Recorded {
    Recorded {
        second,
        ..Recorded::default()
    }
}

/// Appends an entry and a batch for each time. A snapshot contains only the last time.
fn append(journal: &mut Journal, times: &[i64]) -> Result<()> {
    let entries: Vec<Entry> = times.iter().copied().map(entry).collect();
    let batches: Vec<Recorded> = times.iter().copied().map(batch).collect();
    let last = times.last().map_or(String::new(), i64::to_string);
    journal.append(&entries, &batches, || Ok(last.into_bytes()))
}

fn times(journal: &Journal) -> Vec<i64> {
    let entries = journal.entries().unwrap();
    entries.map(|entry| entry.unwrap().time).collect()
}

/// The content of a journal: the snapshot, the times of the entries, and the times of the batches, which are in
/// seconds.
fn content(journal: &Journal) -> (Option<Vec<u8>>, Vec<i64>, Vec<i64>) {
    let batches = journal.batches().unwrap();
    let seconds = batches.map(|batch| batch.unwrap().second);
    (
        journal.snapshot().unwrap(),
        times(journal),
        seconds.collect(),
    )
}

#[test]
fn entries_are_in_the_file_as_soon_as_they_are_appended() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let mut journal = Journal::open(&path, &settings(), 5).unwrap();
    assert!(journal.is_empty());
    for batch in [&[1, 2][..], &[3], &[]] {
        append(&mut journal, batch).unwrap();
        // A copy of the open file equals the file that a killed daemon leaves behind.
        let copy = folder.path().join(format!("killed-{}", journal.len()));
        std::fs::copy(&path, &copy).unwrap();
        let mut killed = Journal::open(&copy, &settings(), 6).unwrap();
        assert_eq!(content(&killed), content(&journal));
        append(&mut killed, &[9]).unwrap();
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

#[test]
fn a_journal_of_another_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    drop(Journal::open(&path, &settings(), 5).unwrap());
    let database = Database::open(&path).unwrap();
    let write = database.begin_write().unwrap();
    let mut about = write.open_table(ABOUT).unwrap();
    about.insert("version", &b"1"[..]).unwrap();
    drop(about);
    write.commit().unwrap();
    drop(database);
    let error = Journal::open(&path, &settings(), 5).err().unwrap();
    let expected = "found version 1 of the journal's format, expected version 2. Stop everything";
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn a_snapshot_replaces_the_entries_but_not_the_batches() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let mut journal = Journal::open(&path, &settings(), 5).unwrap();
    journal.most_entries = 3;
    append(&mut journal, &[1, 2]).unwrap();
    assert_eq!(content(&journal), (None, vec![1, 2], vec![1, 2]));
    append(&mut journal, &[3, 4]).unwrap();
    let snapshot = Some(b"4".to_vec());
    let expected = (snapshot.clone(), vec![], vec![1, 2, 3, 4]);
    assert_eq!(content(&journal), expected);
    drop(journal);
    let mut again = Journal::open(&path, &settings(), 5).unwrap();
    assert!(!again.is_empty());
    append(&mut again, &[5]).unwrap();
    assert_eq!(content(&again), (snapshot, vec![5], vec![1, 2, 3, 4, 5]));
    assert_eq!(again.len(), 1);
}

// A recording can be read while further entries are appended.
#[test]
fn batches_are_read_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let mut journal = Journal::open(&path, &settings(), 5).unwrap();
    append(&mut journal, &[1, 2]).unwrap();
    let batches = journal.batches().unwrap();
    append(&mut journal, &[3]).unwrap();
    let read = std::thread::spawn(move || batches.map(|batch| batch.unwrap().second).collect());
    let seconds: Vec<i64> = read.join().unwrap();
    assert_eq!(seconds, [1, 2]);
}

/// An in-memory file. If a number is given, the file fails after this number of writes, changes of length and syncs.
#[derive(Debug, Clone, Default)]
struct Disk(Arc<Mutex<DiskState>>);

#[derive(Debug, Clone, Default)]
struct DiskState {
    /// The file as the program sees it.
    written: Vec<u8>,
    /// The file at the last sync. If the power fails, later writes may be lost.
    synced: Vec<u8>,
    /// Number of further writes and syncs that succeed.
    left: Option<usize>,
}

impl Disk {
    fn with(bytes: Vec<u8>, left: Option<usize>) -> Self {
        let synced = bytes.clone();
        let written = bytes;
        Disk(Arc::new(Mutex::new(DiskState {
            written,
            synced,
            left,
        })))
    }

    /// Carries out a change, unless the disk has failed.
    fn change(&self, change: impl FnOnce(&mut DiskState)) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        match &mut state.left {
            Some(0) => return Err(io::Error::other("the disk has failed")),
            Some(left) => *left -= 1,
            None => {}
        }
        change(&mut state);
        Ok(())
    }

    fn journal(&self) -> Result<Journal> {
        let path = Path::new("memory");
        let database = Database::builder().create_with_backend(self.clone());
        let database = database.map_err(|error| failed(path, error))?;
        let mut journal = Journal::in_database(database, path, &settings(), 5)?;
        journal.most_entries = 3;
        Ok(journal)
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().written.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.0.lock().unwrap();
        let offset = offset as usize;
        out.copy_from_slice(&state.written[offset..offset + out.len()]);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change(|state| state.written.resize(len as usize, 0))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.change(|state| state.synced.clone_from(&state.written))
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let offset = offset as usize;
        self.change(|state| state.written[offset..offset + data.len()].copy_from_slice(data))
    }
}

// In turn, the disk fails at each write and each sync of a transaction that replaces the entries with a snapshot.
// Whether or not unsynced writes survive, the journal then contains either the whole transaction or none of it.
#[test]
fn a_crash_while_a_snapshot_is_written_loses_nothing() {
    let disk = Disk::default();
    let mut journal = disk.journal().unwrap();
    for step in [&[1, 2][..], &[3, 4], &[5, 6]] {
        append(&mut journal, step).unwrap();
    }
    let before = content(&journal);
    let base = disk.0.lock().unwrap().written.clone();
    append(&mut journal, &[7, 8]).unwrap();
    let after = content(&journal);
    assert_eq!(after.0, Some(b"8".to_vec()));
    let mut crashes = 0;
    for left in 0.. {
        let disk = Disk::with(base.clone(), None);
        let mut journal = disk.journal().unwrap();
        disk.0.lock().unwrap().left = Some(left);
        let is_written = append(&mut journal, &[7, 8]).is_ok();
        let crashed = disk.0.lock().unwrap().clone();
        for bytes in [crashed.written, crashed.synced] {
            let again = Disk::with(bytes, None).journal().unwrap();
            let found = content(&again);
            let is_whole = found == after || (found == before && !is_written);
            assert!(is_whole, "after {left} writes: {found:?}");
        }
        if is_written {
            break;
        }
        crashes += 1;
    }
    assert!(crashes > 3, "{crashes}");
}
