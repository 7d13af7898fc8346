//! Creates segments and appends records to them.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use gleaner_domain::error::{Error, Result};
use gleaner_io::files::{UNFINISHED_ENDING, sync_directory};
use serde::Serialize;
use serde_json::value::to_raw_value;

use crate::record::{Done, Ended, PartName, Record};
use crate::{ENDING, RunKey, Store};

/// Prefix of the names of the segments that writers create.
const PREFIX: &str = "segment-";

/// Time between two syncs to disk. A power failure loses only records that have not been synced. A process that is
/// killed loses nothing.
const SYNC: Duration = Duration::from_secs(1);

/// Maximum number of attempts to create a segment. An attempt fails when a command that opens the directory mistakes
/// the file for a leftover of a killed process and removes it.
const ATTEMPTS: usize = 100;

/// Adds records to a store. A writer writes to a segment of its own, which it creates with the first record.
/// Threads may share a writer.
///
/// The writer holds a lock on its segment until the writer is dropped or the process ends. [`Store::merge`] therefore
/// keeps the segments of writers that may still append.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
    part: Option<PartName>,
    segment: Mutex<Option<Segment>>,
}

#[derive(Debug)]
struct Segment {
    file: File,
    path: PathBuf,
    synced: Instant,
}

impl Store {
    /// Creates a writer. `part` identifies the process if it executes a part of a batch.
    pub fn writer(&self, part: Option<PartName>) -> Writer {
        Writer {
            folder: self.folder.clone(),
            part,
            segment: Mutex::new(None),
        }
    }
}

impl Writer {
    /// Records that a run has started.
    ///
    /// # Errors
    /// The segment cannot be written.
    pub fn begin(&self, run: RunKey) -> Result<()> {
        self.append(&Record::Begun(run))
    }

    /// Stores the result of a run and its duration in seconds.
    ///
    /// # Errors
    /// The segment cannot be written.
    pub fn save(
        &self,
        run: RunKey,
        settings: &impl Serialize,
        result: &impl Serialize,
        seconds: f64,
    ) -> Result<()> {
        let raw = |error: serde_json::Error| Error::Run(error.to_string());
        self.append(&Record::Done(Done {
            run,
            settings: &to_raw_value(settings).map_err(raw)?,
            seconds,
            result: &to_raw_value(result).map_err(raw)?,
        }))
    }

    /// Records that a run has failed.
    ///
    /// # Errors
    /// The segment cannot be written.
    pub fn fail(&self, run: RunKey, error: &Error) -> Result<()> {
        self.append(&Record::Failed {
            run,
            code: error.exit_code(),
            message: error.to_string(),
        })
    }

    /// Records how the process ends, and syncs the segment to disk.
    ///
    /// # Errors
    /// The segment cannot be written.
    pub fn end(&self, ended: Ended) -> Result<()> {
        self.append(&Record::Ended(ended))?;
        self.sync()
    }

    /// Syncs all records to disk.
    ///
    /// # Errors
    /// The segment cannot be written.
    pub fn sync(&self) -> Result<()> {
        let mut segment = self.segment.lock().unwrap_or_else(PoisonError::into_inner);
        segment.as_mut().map_or(Ok(()), Segment::sync)
    }

    fn append(&self, record: &Record<'_>) -> Result<()> {
        let line = record
            .line()
            .map_err(|error| Error::Run(error.to_string()))?;
        let mut slot = self.segment.lock().unwrap_or_else(PoisonError::into_inner);
        let mut segment = match slot.take() {
            Some(segment) => segment,
            None => self.create()?,
        };
        // If `append` fails, the line may be incomplete, and a line appended to the fragment would be lost. The segment
        // is therefore closed.
        segment.append(&line)?;
        *slot = Some(segment);
        Ok(())
    }

    fn create(&self) -> Result<Segment> {
        let folder = &self.folder;
        let failed = |error| Error::io("create a file in", folder, error);
        fs::create_dir_all(folder).map_err(failed)?;
        let (file, path) = locked_file(folder).map_err(failed)?;
        sync_directory(folder);
        let mut segment = Segment {
            file,
            path,
            synced: Instant::now(),
        };
        if let Some(part) = &self.part {
            let line = Record::Part(part.clone()).line();
            segment.append(&line.map_err(|error| Error::Run(error.to_string()))?)?;
        }
        Ok(segment)
    }
}

/// Creates a file in the folder of segments and returns it with its path. The file is locked before it
/// gets the name of a segment, so a segment without a lock has no writer and never gets one.
fn locked_file(folder: &Path) -> io::Result<(File, PathBuf)> {
    let mut builder = tempfile::Builder::new();
    let unfinished = format!("{ENDING}{UNFINISHED_ENDING}");
    builder.prefix(".").suffix(&unfinished).rand_bytes(12);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut attempts = 0..ATTEMPTS;
    loop {
        let file = builder.tempfile_in(folder)?;
        // The file system may not support locks; `merge` then relies on the segment's last record.
        if let Err(TryLockError::WouldBlock) = file.as_file().try_lock() {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        let hidden = file
            .path()
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let name = hidden.trim_start_matches('.');
        let name = name.strip_suffix(UNFINISHED_ENDING).unwrap_or(name);
        let path = folder.join(format!("{PREFIX}{name}"));
        match file.persist(&path) {
            Ok(file) => return Ok((file, path)),
            Err(kept)
                if kept.error.kind() == io::ErrorKind::NotFound && attempts.next().is_some() => {}
            Err(kept) => return Err(kept.error),
        }
    }
}

impl Segment {
    fn append(&mut self, line: &str) -> Result<()> {
        let written = self.file.write_all(line.as_bytes());
        written.map_err(|error| Error::io("write", &self.path, error))?;
        if self.synced.elapsed() >= SYNC {
            self.sync()
        } else {
            Ok(())
        }
    }

    fn sync(&mut self) -> Result<()> {
        let synced = self.file.sync_data();
        synced.map_err(|error| Error::io("write", &self.path, error))?;
        self.synced = Instant::now();
        Ok(())
    }
}
