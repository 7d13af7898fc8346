//! Determines the plan whose results a directory contains.

use std::path::{Path, PathBuf};

use super::opened::Opened;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::run::{RUN_FILE, RunFile};
use gleaner_io::files::read_regular;
use gleaner_io::source::TEXT_LIMIT;
use gleaner_store::Store;

/// Rejects a directory that contains the runs of another plan. If two plans shared a directory, the tables of one would
/// replace those of the other.
///
/// A plan can be edited or renamed. Plans with the same file name are therefore treated as the same plan, and a plan
/// with another file name is accepted if the directory contains any of its runs.
///
/// # Errors
/// [`Error::Usage`] if the directory contains the runs of another plan, and another error if the runs cannot be read.
pub(crate) fn check(opened: &Opened<'_>, out: &Path) -> Result<()> {
    let Some(other) = other_plan(&opened.file, out) else {
        return Ok(());
    };
    let found = opened.glance(&Store::at(out))?;
    if !found.begun.is_empty() || !found.results.is_empty() {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "--out {}: the directory contains the results of the plan {} and no run of {}; name another \
         directory, or remove this one",
        out.display(),
        other.display(),
        opened.file.display()
    )))
}

/// Returns the plan that the directory's `run.json` names, if its file name differs from that of `file`.
pub(crate) fn other_plan(file: &Path, out: &Path) -> Option<PathBuf> {
    let bytes = read_regular(&out.join(RUN_FILE), TEXT_LIMIT).ok()?;
    let info: RunFile = serde_json::from_slice(&bytes).ok()?;
    let plan = PathBuf::from(info.arguments.get("plan")?.as_str()?);
    (plan.file_name() != file.file_name()).then_some(plan)
}
