//! Adds to a store.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use gleaner_core::error::{Error, Result};
use gleaner_core::files::sync_directory;
use serde::Serialize;
use serde_json::value::to_raw_value;

use crate::record::{Done, Ended, PartName, Record};
use crate::{ENDING, RunKey, Store};

/// How the names of segments begin.
const PREFIX: &str = "segment-";

/// Time between two syncs to the disk. A machine that loses its power loses what is younger; a process
/// that is killed loses nothing.
const SYNC: Duration = Duration::from_secs(1);

/// Adds to a store, in a segment of its own that is created with the first record. It may be shared
/// by threads.
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
    /// A writer. `part` is what the process says of itself.
    pub fn writer(&self, part: Option<PartName>) -> Writer {
        Writer {
            folder: self.folder.clone(),
            part,
            segment: Mutex::new(None),
        }
    }
}

impl Writer {
    /// Notes that a run begins.
    ///
    /// # Errors
    /// The segment cannot be written.
    pub fn begin(&self, run: RunKey) -> Result<()> {
        self.append(&Record::Begun(run))
    }

    /// Keeps the result of a run, which took so many seconds.
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

    /// Notes that a run has failed.
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

    /// Notes how the process ends, and syncs the segment to the disk.
    ///
    /// # Errors
    /// The segment cannot be written.
    pub fn end(&self, ended: Ended) -> Result<()> {
        self.append(&Record::Ended(ended))?;
        self.sync()
    }

    /// Syncs all records to the disk.
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
        // A line that could not be written whole is the last of its segment: what follows it would
        // be lost with it.
        segment.append(&line)?;
        *slot = Some(segment);
        Ok(())
    }

    fn create(&self) -> Result<Segment> {
        let folder = &self.folder;
        let failed = |error| Error::io("create a file in", folder, error);
        fs::create_dir_all(folder).map_err(failed)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(ENDING).rand_bytes(12);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder).map_err(failed)?;
        let (file, path) = file.keep().map_err(|kept| failed(kept.error))?;
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

impl Segment {
    fn append(&mut self, line: &str) -> Result<()> {
        let written = self.file.write_all(line.as_bytes());
        written.map_err(|error| Error::io("write", &self.path, error))?;
        match self.synced.elapsed() >= SYNC {
            true => self.sync(),
            false => Ok(()),
        }
    }

    fn sync(&mut self) -> Result<()> {
        let synced = self.file.sync_data();
        synced.map_err(|error| Error::io("write", &self.path, error))?;
        self.synced = Instant::now();
        Ok(())
    }
}
