//! A run directory: run.json, summary.json, and the tables as CSV and Parquet.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::table::{Column, Table};
use crate::error::{Error, Fault, Faults, Result};
use crate::ingest::SourceId;

/// The file that marks a directory as a run of this program.
const RUN_FILE: &str = "run.json";

/// How the name of a file ends that is being written.
const PART: &str = ".part";

/// An input as `run.json` lists it.
#[derive(Debug, Clone, Serialize)]
pub struct Input {
    /// Path as the user named it.
    pub path: String,
    /// Length in bytes.
    pub bytes: u64,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
}

impl From<&SourceId> for Input {
    fn from(id: &SourceId) -> Self {
        Input {
            path: id.path.display().to_string(),
            bytes: id.length,
            sha256: id.sha256.to_string(),
        }
    }
}

/// What `run.json` says of a run. Only here are wall times, so that all other
/// files but the timings table depend on inputs, arguments and seed alone.
#[derive(Debug, Serialize)]
pub struct RunInfo<A> {
    /// The subcommand.
    pub command: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// All arguments, defaults filled in.
    pub arguments: A,
    /// Every file read.
    pub inputs: Vec<Input>,
    /// Whether the run reached its end.
    pub complete: bool,
    /// Wall time by phase, in seconds.
    pub seconds: Seconds,
}

/// Wall time by phase, in seconds.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Seconds {
    /// Reading and validating the inputs.
    pub read: f64,
    /// The replay itself.
    pub compute: f64,
    /// Writing the tables.
    pub write: f64,
}

/// A directory that takes one run's results.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
}

impl RunDir {
    /// Opens `path` for a run: creates it, or takes over that of an earlier run.
    ///
    /// # Errors
    /// A directory that holds other things is left alone: [`Error::Usage`].
    pub fn open(path: &Path) -> Result<Self> {
        let is_whole = |entry: std::io::Result<fs::DirEntry>| {
            entry.is_ok_and(|e| !e.file_name().to_string_lossy().ends_with(PART))
        };
        let taken = fs::read_dir(path).is_ok_and(|mut entries| entries.any(is_whole));
        if taken && !path.join(RUN_FILE).is_file() {
            return Err(Error::Usage(format!(
                "--out {}: the directory holds files that are no earlier run's; name a new one",
                path.display()
            )));
        }
        fs::create_dir_all(path).map_err(|e| Error::io("create", path, e))?;
        Ok(RunDir { path: path.into() })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a value as `name`, pretty-printed JSON.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<()> {
        self.write(name, |out| {
            serde_json::to_writer_pretty(&mut *out, value)?;
            out.write_all(b"\n")
        })
    }

    /// Writes `run.json`: a [`RunInfo`], maybe with more.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_info(&self, info: &impl Serialize) -> Result<()> {
        self.write_json(RUN_FILE, info)
    }

    /// Writes a table as CSV and Parquet.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write_table(&self, table: &Table<'_>) -> Result<()> {
        self.write(&format!("{}.csv", table.name), |out| table.write_csv(out))?;
        self.write_parquet(table)
    }

    /// Writes a table as Parquet alone.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_parquet(&self, table: &Table<'_>) -> Result<()> {
        self.write(&format!("{}.parquet", table.name), |out| {
            table.write_parquet(out)
        })
    }

    /// A folder of this name in the directory, created where it is missing.
    ///
    /// # Errors
    /// When it cannot be created.
    pub(super) fn folder(&self, name: &str) -> Result<RunDir> {
        let path = self.path.join(name);
        fs::create_dir_all(&path).map_err(|e| Error::io("create", &path, e))?;
        Ok(RunDir { path })
    }

    /// Writes the faults of what was left out as `skipped.csv`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_skipped(&self, skipped: &Faults) -> Result<()> {
        let text = |of: fn(&Fault) -> &String| {
            Column::Texts(skipped.0.iter().map(|f| of(f).as_str().into()).collect())
        };
        let table = Table {
            name: "skipped",
            columns: vec![
                ("file", text(|f| &f.file)),
                ("place", text(|f| &f.place)),
                ("field", text(|f| &f.field)),
                ("found", text(|f| &f.found)),
                ("expected", text(|f| &f.expected)),
                ("remedy", text(|f| &f.remedy)),
            ],
        };
        self.write("skipped.csv", |out| table.write_csv(out))
    }

    /// Writes a file of this name with what `fill` puts into it; killed midway, it leaves
    /// the file as it was.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn write(
        &self,
        name: &str,
        fill: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
    ) -> Result<()> {
        let path = self.path.join(name);
        let part = self.path.join(format!(".{name}{PART}"));
        let mut out =
            BufWriter::new(File::create(&part).map_err(|e| Error::io("create", &part, e))?);
        fill(&mut out)
            .and_then(|()| out.flush())
            .and_then(|()| fs::rename(&part, &path))
            .map_err(|e| Error::io("write", path, e))
    }

    /// Removes a file of this name where there is one.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(&self, name: &str) -> Result<()> {
        let path = self.path.join(name);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", path, e)),
            _ => Ok(()),
        }
    }
}
