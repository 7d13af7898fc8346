//! Reads the run directories of `gleaner replay`, `simulate`, `sweep` and `compare`.
//!
//! A run directory is an input like any other: nothing in it is trusted. Names that become parts of
//! paths are checked, and only plain files are opened. Missing, damaged or contradictory content is
//! reported as a fault of the file in which it was found.

use std::path::Path;

use files::RunFiles;
use gleaner_domain::error::{Fault, Result};
use gleaner_domain::results::run::RUN_FILE;
use gleaner_domain::results::states::{JobRow, RunRow};

mod cells;
mod compare;
mod files;
mod forms;
mod info;
mod replay;
mod rows;
mod simulate;
mod sweep;
mod tables;

pub use cells::Cell;
pub use compare::{CompareRun, programs};
pub use forms::Compared;
pub use info::RunInfo;
pub use replay::ReplayRun;
pub use simulate::{Hour, JobEnd, PolicyRun, SimulateRun};
pub use sweep::SweepRuns;
pub use tables::{StoredTable, info};

/// The content of a run directory.
#[derive(Debug, Clone)]
pub struct Run {
    /// The contents of `run.json`.
    pub info: RunInfo,
    /// The results, whose type depends on the subcommand.
    pub result: RunResult,
}

/// The results of a run.
#[derive(Debug, Clone)]
pub enum RunResult {
    /// Results of `gleaner replay`.
    Replay(Box<ReplayRun>),
    /// Results of `gleaner simulate`.
    Simulate(SimulateRun),
    /// Results of `gleaner sweep`.
    Sweep(SweepRuns),
    /// Results of `gleaner compare`.
    Compare(CompareRun),
}

/// Reads a run directory.
///
/// # Errors
/// The directory is not a run directory, or its files are missing, damaged or contradictory.
pub fn read(dir: &Path) -> Result<Run> {
    let info = RunInfo::read(dir)?;
    let files = RunFiles::of(&info);
    let result = match info.command.as_str() {
        "replay" => RunResult::Replay(Box::new(ReplayRun::read(&files)?)),
        "simulate" => RunResult::Simulate(SimulateRun::read(&files)?),
        "sweep" => RunResult::Sweep(SweepRuns::read(&files, info.complete)?),
        "compare" => RunResult::Compare(CompareRun::read(&files, info.complete)?),
        other => {
            let file = files.path(RUN_FILE);
            let expected = "replay, simulate, sweep or compare";
            let fault = Fault::of(&file, format!("{other:?}"), expected);
            let remedy = "name a run directory of one of these subcommands";
            return Err(fault.field("command").remedy(remedy).into());
        }
    };
    Ok(Run { info, result })
}

/// Reads a simulated policy's table of jobs, with every column that can be verified.
///
/// # Errors
/// The table is missing or damaged.
pub fn job_rows(info: &RunInfo, policy: &str) -> Result<Vec<JobRow>> {
    simulate::read_job_rows(&RunFiles::of(info), policy)
}

/// Reads a simulated policy's table of job runs.
///
/// # Errors
/// The table is missing or damaged.
pub fn run_rows(info: &RunInfo, policy: &str) -> Result<Vec<RunRow>> {
    rows::read_records(
        &RunFiles::of(info),
        &format!("{policy}_runs.parquet"),
        |_, _| None,
    )
}
