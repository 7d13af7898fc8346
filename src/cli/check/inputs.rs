//! Rereads the inputs of a run.

use std::fs;
use std::path::Path;

use gleaner_check::Findings;
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Fault, Result};
use gleaner_domain::results::run::RUN_FILE;
use gleaner_io::SourceId;
use gleaner_io::source::STDIN;
use gleaner_runs::read::RunInfo;
use serde_json::Value;

const REMEDY: &str = "run the check in the directory where the run was started, or name that \
                      directory with --inputs; if the inputs have changed, repeat the run";

/// Compares all inputs that `run.json` lists with their recorded digests.
///
/// # Errors
/// An input is missing, is not a regular file, or was standard input.
pub(super) fn given(info: &RunInfo, observer: &dyn Observer) -> Result<Findings> {
    for input in &info.inputs {
        let path = Path::new(&input.path);
        let found = match fs::metadata(path) {
            _ if input.path == STDIN => "standard input, which cannot be read again",
            Ok(metadata) if metadata.is_file() => continue,
            Ok(_) => "something that is not a file",
            Err(_) => "no file",
        };
        return Err(Error::Run(format!(
            "{}: {found}, expected an input of the run: {REMEDY}",
            input.path
        )));
    }
    gleaner_check::inputs(&info.inputs, observer)
}

/// The inputs that `run.json` lists.
pub(super) struct Given<'a> {
    info: &'a RunInfo,
}

impl<'a> Given<'a> {
    /// Wraps the inputs of a run.
    pub fn of(info: &'a RunInfo) -> Self {
        Given { info }
    }

    /// Checks that the arguments name only files that are inputs of the run. This prevents the check from opening other
    /// files.
    ///
    /// # Errors
    /// An argument names a file that `run.json` does not list.
    pub fn names(&self, arguments: &[&str]) -> Result<()> {
        for name in arguments {
            let Some(path) = self.info.arguments.get(*name).and_then(Value::as_str) else {
                continue;
            };
            if !self.info.inputs.iter().any(|input| input.path == path) {
                let file = self.info.path.join(RUN_FILE);
                let fault = Fault::of(&file, path, "an input listed in run.json");
                return Err(fault.field(format!("arguments/{name}")).into());
            }
        }
        Ok(())
    }

    /// Checks that all files are inputs of the run, with the same content.
    ///
    /// # Errors
    /// `run.json` does not list a file, or lists it with another digest.
    pub fn same(&self, sources: &[SourceId]) -> Result<()> {
        for source in sources {
            let path = source.path.display().to_string();
            let sha256 = source.sha256.to_string();
            let mut listed = self.info.inputs.iter();
            if !listed.any(|input| input.path == path && input.sha256 == sha256) {
                let found = "other content";
                let fault = Fault::of(&source.path, found, "the content that the run read");
                return Err(fault.remedy(REMEDY).into());
            }
        }
        Ok(())
    }
}
