//! The results of single runs: a small file for each, written as soon as the run finishes.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::SweepRun;
use crate::output::run::RunDir;
use gleaner_core::error::{Error, Result};
use gleaner_core::files::{self, Digest};
use gleaner_core::results::programs::Tally;
use gleaner_core::results::sweep::{RunOutcome, RunSummary};

/// The contents of a run's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    /// The run's key, which is also the file's name.
    pub run: String,
    /// The run's settings.
    pub settings: Value,
    /// The run's results.
    pub summary: RunSummary,
    /// What became of the answers of its solver, if that is a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Tally>,
    /// SHA-256 of the fields above. A file that was changed is not used as a result.
    pub sha256: String,
}

impl Saved {
    fn new(run: &SweepRun, result: RunOutcome) -> Result<Self> {
        let RunOutcome { summary, program } = result;
        // Without a program as before there were any, so that results of then are used again.
        let bytes = match &program {
            None => serde_json::to_vec(&(&run.key, &run.settings, &summary)),
            Some(program) => serde_json::to_vec(&(&run.key, &run.settings, &summary, program)),
        };
        let bytes = bytes.map_err(|e| Error::Run(e.to_string()))?;
        Ok(Saved {
            run: run.key.clone(),
            settings: run.settings.clone(),
            summary,
            program,
            sha256: Digest::of(&bytes).to_string(),
        })
    }
}

/// The folder `runs` of a sweep's directory.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The folder of a sweep's directory, which may not exist: to look at what is done.
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
    pub fn load(&self, run: &SweepRun) -> Option<RunOutcome> {
        let bytes = fs::read(self.folder.join(name(run))).ok()?;
        let saved: Saved = serde_json::from_slice(&bytes).ok()?;
        let result = RunOutcome {
            summary: saved.summary.clone(),
            program: saved.program.clone(),
        };
        let expected = Saved::new(run, result.clone()).ok()?;
        (saved == expected).then_some(result)
    }

    /// Writes a run's result. The file appears whole or not at all.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, run: &SweepRun, result: &RunOutcome) -> Result<()> {
        let saved = Saved::new(run, result.clone())?;
        files::write(&self.folder.join(name(run)), |out| {
            serde_json::to_writer_pretty(&mut *out, &saved)?;
            out.write_all(b"\n")
        })
    }
}

fn name(run: &SweepRun) -> String {
    format!("{}.json", run.key)
}
