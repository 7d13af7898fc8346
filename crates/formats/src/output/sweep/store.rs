//! The results of single runs: a small file for each, written as soon as the run finishes.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::SweepRun;
use crate::output::run::RunDir;
use gleaner_core::error::{Error, Result};
use gleaner_core::files::{self, Digest};

/// The contents of a run's file. `R` is the result of a run of a sweep or of a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Saved<R> {
    /// The run's key, which is also the file's name.
    pub run: String,
    /// The run's settings.
    pub settings: Value,
    /// What the run found.
    pub result: R,
    /// SHA-256 of the three fields above. A file that was changed is not used as a result.
    pub sha256: String,
}

impl<R: Serialize + Clone> Saved<R> {
    fn new(run: &SweepRun, result: &R) -> Result<Self> {
        let content = (&run.key, &run.settings, result);
        let bytes = serde_json::to_vec(&content).map_err(|e| Error::Run(e.to_string()))?;
        Ok(Saved {
            run: run.key.clone(),
            settings: run.settings.clone(),
            result: result.clone(),
            sha256: Digest::of(&bytes).to_string(),
        })
    }
}

/// The folder `runs` in the directory of a sweep or of profiles.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The folder of such a directory, which may not exist: to look at what is done.
    pub fn at(directory: &Path) -> Self {
        Store {
            folder: directory.join("runs"),
        }
    }

    /// Opens the folder, which is created if it is missing.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn open(directory: &RunDir) -> Result<Self> {
        let store = Store::at(directory.path());
        let folder = &store.folder;
        fs::create_dir_all(folder).map_err(|e| Error::io("create", folder, e))?;
        Ok(store)
    }

    /// The result of a run that is done. `None` if its file is missing, damaged, changed or of
    /// other settings; the run is then done again.
    pub fn load<R>(&self, run: &SweepRun) -> Option<R>
    where
        R: Serialize + DeserializeOwned + Clone + PartialEq,
    {
        let bytes = fs::read(self.folder.join(name(run))).ok()?;
        let saved: Saved<R> = serde_json::from_slice(&bytes).ok()?;
        let expected = Saved::new(run, &saved.result).ok()?;
        (saved == expected).then_some(saved.result)
    }

    /// Writes a run's result. The file appears whole or not at all.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, run: &SweepRun, result: &(impl Serialize + Clone)) -> Result<()> {
        let saved = Saved::new(run, result)?;
        files::write(&self.folder.join(name(run)), |out| {
            serde_json::to_writer_pretty(&mut *out, &saved)?;
            out.write_all(b"\n")
        })
    }
}

fn name(run: &SweepRun) -> String {
    format!("{}.json", run.key)
}
