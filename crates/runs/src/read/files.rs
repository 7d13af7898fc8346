//! Reads the files of a run directory.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::RunInfo;
use gleaner_domain::error::{Error, Fault, Result};
use gleaner_domain::results::run::RUN_FILE;
use gleaner_domain::{Stamp, Utc};
use gleaner_io::rows::{Cell, CellResult, CellTime};
use gleaner_io::source::{Source, TEXT_LIMIT};

/// The files that `run.json` lists. No other files are read, and a file that has changed is rejected.
pub(super) struct RunFiles<'a> {
    dir: &'a Path,
    /// SHA-256 of each file, by file name.
    digests: BTreeMap<&'a str, &'a str>,
}

impl<'a> RunFiles<'a> {
    /// The files of a run.
    pub fn of(info: &'a RunInfo) -> Self {
        let digests = info.files.iter();
        RunFiles {
            dir: &info.path,
            digests: digests
                .map(|file| (file.path.as_str(), file.sha256.as_str()))
                .collect(),
        }
    }

    /// Reads `run.json`, which is not in the list of files.
    ///
    /// # Errors
    /// The file does not exist, cannot be read, or is not JSON with the expected fields.
    pub fn info<T: DeserializeOwned>(dir: &Path) -> Result<T> {
        let file = dir.join(RUN_FILE);
        if !file.exists() {
            return Err(Error::Run(format!(
                "cannot read {}: there is no such file; {NAME_A_RUN}",
                file.display()
            )));
        }
        parse(&open(&file)?)
    }

    /// Whether the run wrote a file with this name.
    pub fn has(&self, name: &str) -> bool {
        self.digests.contains_key(name)
    }

    /// The path of a file, for messages.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Opens a file that the run wrote.
    ///
    /// # Errors
    /// The file is not listed in `run.json`, is missing, is not a plain file, cannot be read, or has changed.
    pub fn open(&self, name: &str) -> Result<Source> {
        let Some(expected) = self.digests.get(name) else {
            let fault = Fault::of(&self.path(RUN_FILE), format!("no file {name}"), "one");
            return Err(fault.field("files").remedy(AGAIN).into());
        };
        let source = open(&self.path(name))?;
        if source.id().sha256.to_string() != **expected {
            let found = "content that does not match run.json";
            let fault = source.fault(found, "the file as the run wrote it");
            return Err(fault.remedy(AGAIN).into());
        }
        Ok(source)
    }

    /// Reads a JSON file.
    ///
    /// # Errors
    /// Same as [`RunFiles::open`], or the file is not JSON or lacks a field.
    pub fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        parse(&self.open(name)?)
    }
}

const NAME_A_RUN: &str = "name a run directory of gleaner replay, simulate, sweep or compare";
const AGAIN: &str = "if files of the run were lost or changed, repeat the run";

/// Opens a plain file.
fn open(path: &Path) -> Result<Source> {
    // Opening a pipe would block until another process opens it for writing.
    let found = match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => return Source::open(path),
        Ok(_) => "something other than a file".to_owned(),
        Err(error) if error.kind() == ErrorKind::NotFound => "no file".to_owned(),
        Err(error) => format!("a file that cannot be read ({error})"),
    };
    let fault = Fault::of(path, found, "a file of the run");
    let remedy = format!("{NAME_A_RUN}, or repeat the run if its files were lost");
    Err(fault.remedy(remedy).into())
}

/// Parses a JSON file of limited size.
fn parse<T: DeserializeOwned>(source: &Source) -> Result<T> {
    let length = source.id().length;
    if length > TEXT_LIMIT {
        let expected = format!("at most {TEXT_LIMIT}");
        return Err(source.fault(format!("{length} bytes"), expected).into());
    }
    let bytes = source.read_up_to(TEXT_LIMIT)?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let expected = "the format that this version of gleaner writes";
        let fault = source.fault(error.to_string(), expected);
        fault.remedy("repeat the run with this version").into()
    })
}

/// Parses a cell with a civil time. A run directory does not state its time zone, so times are interpreted as UTC.
pub(super) fn time(cell: Cell<'_>) -> CellResult<Utc> {
    match cell.clock()? {
        CellTime::Civil(Stamp::Local(time)) => Ok(time.from_offset(0)),
        _ => Err(cell.fault("a time such as 2020-04-01 00:00:00")),
    }
}
