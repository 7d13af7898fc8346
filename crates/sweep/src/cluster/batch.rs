//! Batches of runs that were submitted together, and the paths of their files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gleaner_domain::Digest;
use gleaner_domain::error::{Error, Result};
use gleaner_io::files;
use serde::{Deserialize, Serialize};

use crate::cluster::slurm::SlurmOptions;

/// Name of the folder that contains all batches, in the directory of a sweep.
const FOLDER: &str = "batch";

/// Maximum size in bytes of a file that describes a batch or an assignment of runs.
pub(crate) const MOST_BYTES: u64 = 256 << 20;

/// Number of hexadecimal digits in a batch's name.
const DIGITS: usize = 8;

/// Runs that were submitted together, divided into parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// Name of the batch and of its folder. The names of the batch's jobs contain this name.
    pub name: String,
    /// Number of times that lost runs have been resubmitted so far; 0 for a batch that a user submitted.
    pub round: u32,
    /// The names of the earlier batches whose remaining runs this batch takes over.
    pub earlier: Vec<String>,
    /// Number of parts.
    pub parts: usize,
    /// Time of submission, in seconds since 1970.
    pub submitted: u64,
    /// The options with which this batch was submitted. If runs remain, they are resubmitted with the same
    /// options.
    pub options: SlurmOptions,
    /// Ids of the batch's job arrays and of the job that collects results. If the submission was interrupted, some ids
    /// are missing.
    pub jobs: Vec<String>,
    /// Maximum number of tasks in an array.
    pub array_size: usize,
}

impl Batch {
    /// The name of one of the batch's jobs. The arrays are numbered from 0, and the job that collects results
    /// comes last.
    pub fn job_name(&self, job: usize) -> String {
        format!("gleaner-{}-{job}", self.name)
    }

    /// The names of all jobs of the batch.
    pub fn job_names(&self) -> impl Iterator<Item = String> {
        let arrays = self.parts.div_ceil(self.array_size.max(1));
        (0..=arrays).map(|job| self.job_name(job))
    }

    /// The names of the earlier batches and of this batch.
    pub fn chain(&self) -> impl Iterator<Item = &str> {
        let earlier = self.earlier.iter().map(String::as_str);
        earlier.chain([self.name.as_str()])
    }
}

/// A batch whose file cannot be read or has the format of another version.
#[derive(Debug)]
pub struct BrokenBatch {
    /// Name of the batch.
    pub name: String,
    /// The reason why the batch's file cannot be read.
    pub error: Error,
}

/// The folder of all batches of a sweep.
#[derive(Debug, Clone)]
pub struct BatchFolder {
    folder: PathBuf,
}

impl BatchFolder {
    /// The folder for the sweep in `directory`. The folder may be missing.
    pub fn at(directory: &Path) -> Self {
        BatchFolder {
            folder: directory.join(FOLDER),
        }
    }

    /// Creates the folder of a new batch, and returns the batch's name.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn create(&self) -> Result<String> {
        let failed = |error| Error::io("create a folder in", &self.folder, error);
        fs::create_dir_all(&self.folder).map_err(failed)?;
        for attempt in 0u32.. {
            let name = name(attempt);
            match fs::create_dir(self.folder.join(&name)) {
                Ok(()) => {
                    fs::create_dir(self.logs(&name)).map_err(failed)?;
                    return Ok(name);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 100 => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Err(failed(io::ErrorKind::AlreadyExists.into()))
    }

    /// The file that assigns the runs of a batch to parts.
    pub fn deal(&self, name: &str) -> PathBuf {
        self.folder.join(name).join("deal.json")
    }

    /// The file that assigns runs to `parts` parts that do not belong to a batch. `--deal` writes this file, and
    /// `--part` reads it.
    pub fn deal_of(&self, parts: usize) -> PathBuf {
        self.folder.join(format!("deal-{parts}.json"))
    }

    /// The script that executes a part of a batch.
    pub fn script(&self, name: &str) -> PathBuf {
        self.folder.join(name).join("part.sh")
    }

    /// The script that collects the results of a batch.
    pub fn collecting(&self, name: &str) -> PathBuf {
        self.folder.join(name).join("collect.sh")
    }

    /// The folder that contains a batch's logs.
    pub fn logs(&self, name: &str) -> PathBuf {
        self.folder.join(name).join("logs")
    }

    /// The log of a part. Parts are numbered from 1.
    pub fn log(&self, batch: &Batch, part: usize) -> PathBuf {
        let index = part.saturating_sub(1);
        let size = batch.array_size.max(1);
        let (first, task) = (index / size * size, index % size);
        self.logs(&batch.name).join(format!("{first}+{task}.log"))
    }

    /// Writes the file that describes a batch.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, batch: &Batch) -> Result<()> {
        files::write(&self.file(&batch.name), |out| {
            Ok(serde_json::to_writer_pretty(out, batch)?)
        })
    }

    /// Reads the batch with this name.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such batch, or if its file has the format of another version.
    pub fn read(&self, name: &str) -> Result<Batch> {
        let path = self.file(name);
        let bytes = files::read_regular(&path, MOST_BYTES)
            .map_err(|error| Error::io("read", &path, error))?;
        serde_json::from_slice(&bytes).map_err(|error| {
            Error::Usage(format!(
                "{}: not a batch of this version ({error})",
                path.display()
            ))
        })
    }

    /// All batches, oldest first. Skips folders without a batch, which an interrupted submission may leave behind.
    ///
    /// # Errors
    /// The folder exists but cannot be read, or a batch file has the format of another version.
    pub fn all(&self) -> Result<Vec<Batch>> {
        let (all, broken) = self.survey()?;
        match broken.into_iter().next() {
            Some(first) => Err(first.error),
            None => Ok(all),
        }
    }

    /// Like [`BatchFolder::all`], but returns broken batches separately.
    ///
    /// # Errors
    /// The folder exists but cannot be read.
    pub fn survey(&self) -> Result<(Vec<Batch>, Vec<BrokenBatch>)> {
        let (mut all, mut broken) = (Vec::new(), Vec::new());
        for name in self.names()? {
            match self.read(&name) {
                Ok(batch) => all.push(batch),
                Err(error) => broken.push(BrokenBatch { name, error }),
            }
        }
        all.sort_by(|a, b| {
            (a.submitted, a.earlier.len(), &a.name).cmp(&(b.submitted, b.earlier.len(), &b.name))
        });
        Ok((all, broken))
    }

    /// The names of the batches, in alphabetical order.
    fn names(&self) -> Result<Vec<String>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io("read", &self.folder, error)),
        };
        let names = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| self.file(name).is_file()).collect();
        names.sort();
        Ok(names)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name).join("batch.json")
    }
}

/// The time since 1970; 0 if the clock shows an earlier time.
fn since_1970() -> Duration {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default()
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    since_1970().as_secs()
}

/// A name that no other process is likely to choose.
fn name(attempt: u32) -> String {
    let nanos = since_1970().as_nanos();
    let text = format!("{nanos} {} {attempt}", std::process::id());
    Digest::of(text.as_bytes()).to_string()[..DIGITS].to_owned()
}
