//! Compares the records of a sweep with its plan, and its tables with its records.

mod best;
mod groups;
mod records;
mod tables;

use std::collections::BTreeMap;
use std::path::Path;

use gleaner_domain::Observer;
use gleaner_domain::error::{Result, check_stop};
use gleaner_domain::results::sweep::{Mode, Replication, RunOutcome};
use gleaner_runs::read::RunInfo;
use serde_json::Value;

use crate::Findings;
use records::Done;

/// A run of the plan, derived from the plan and its inputs.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The key of the run, which is computed from its settings.
    pub key: String,
    /// The settings of the run.
    pub settings: Value,
}

/// A run and its result.
#[derive(Debug)]
struct Run {
    key: String,
    settings: Value,
    outcome: RunOutcome,
}

/// The recorded results of a sweep's runs, by key.
///
/// # Errors
/// The records cannot be read.
pub fn results(directory: &Path) -> Result<BTreeMap<String, Value>> {
    let done = records::read(directory, &mut Findings::default())?;
    let result = |(key, done): (String, Done)| (key, done.result);
    Ok(done.into_iter().map(result).collect())
}

/// Verifies the records and tables of a sweep, whose means and intervals are computed over the repetitions `over`.
/// `planned` lists the sweep's runs in the order of the plan, and `best` is the name of the metric in the argument
/// `best`, if any. Progress is reported to the observer as the number of runs verified so far.
///
/// # Errors
/// [`Error::Stopped`](gleaner_domain::Error::Stopped) if the check is stopped, and another error if a file is missing
/// or damaged.
pub fn sweep(
    info: &RunInfo,
    mode: Mode,
    over: Replication,
    planned: &[Planned],
    best: Option<&str>,
    observer: &dyn Observer,
) -> Result<Findings> {
    let mut findings = Findings::default();
    let mut done = records::read(&info.path, &mut findings)?;
    let mut runs = Vec::with_capacity(planned.len());
    for (index, run) in planned.iter().enumerate() {
        check_stop(observer)?;
        observer.progress(index, planned.len());
        match done.remove(&run.key) {
            None => findings.add(|| format!("runs: run {} has no result", run.key)),
            Some(record) => runs.extend(take(run, &record, &mut findings)),
        }
    }
    if !done.is_empty() {
        let name = format!("{} records", done.len());
        let why = "their runs are not in the plan, so their settings cannot be verified";
        findings.not_verified("runs", name, why);
    }
    let why = "only --again verifies the results of runs, on a sample; the check verifies only \
               that the tables agree with the records";
    findings.not_verified("runs", "result", why);
    findings.not_verified("runs", "seconds", "it contains measured times");
    if runs.len() == planned.len() {
        check_stop(observer)?;
        let groups = groups::groups(mode, over, &runs);
        tables::runs(info, mode, &runs, &mut findings)?;
        tables::settings(info, mode, &runs, &groups, &mut findings)?;
        best::summary(info, (mode, over), &runs, &groups, best, &mut findings)?;
    }
    Ok(findings)
}

/// Returns a planned run with its result. The record of the run must have the planned settings.
fn take(run: &Planned, record: &Done, findings: &mut Findings) -> Option<Run> {
    findings.holds(record.settings == run.settings, || {
        format!(
            "runs: the settings of run {} are {}, but its key was computed from {}",
            run.key, record.settings, run.settings
        )
    });
    let outcome = record.outcome();
    findings.holds(outcome.is_some(), || {
        format!(
            "runs: the result of run {} is not in the format of this version",
            run.key
        )
    });
    Some(Run {
        key: run.key.clone(),
        settings: run.settings.clone(),
        outcome: outcome?,
    })
}
