//! Compares a run with a second run of the same command.

use std::collections::BTreeMap;
use std::fmt::Display;

use gleaner_domain::error::Result;
use gleaner_domain::results::Column;
use gleaner_domain::results::run::RUN_FILE;
use gleaner_runs::read::RunInfo;

/// The result of comparing a run with a second run. It is reported separately from the values that are recomputed
/// independently.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Again {
    /// Number of identical files; for a sweep, number of runs with identical summaries.
    pub same: usize,
    /// The differences, each described in a sentence.
    pub different: Vec<String>,
    /// The files that were not compared and the differences that were accepted, each with the
    /// reason.
    pub excepted: BTreeMap<String, String>,
}

/// Name prefixes of files that contain measured times.
const TIMED: [&str; 1] = ["timings."];

/// Files that describe the answers of external solver programs. They include the number of late
/// answers, which may differ between two runs.
const COUNTED: [&str; 2] = ["solver.json", "programs.json"];

/// Compares the files of a run with those of a second run of the same command.
///
/// # Errors
/// The table `steps` cannot be read.
pub fn again(run: &RunInfo, again: &RunInfo) -> Result<Again> {
    let mut found = Again::default();
    found.excepted.insert(
        RUN_FILE.to_owned(),
        "it contains wall-clock times".to_owned(),
    );
    let others: BTreeMap<&str, &str> = again
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.sha256.as_str()))
        .collect();
    for file in &run.files {
        let name = file.path.as_str();
        if TIMED.iter().any(|timed| name.starts_with(timed)) {
            found.except(name, "it contains measured times");
        } else if COUNTED.contains(&name) {
            found.except(name, "the number of late answers depends on timing");
        } else {
            match others.get(name) {
                None => found
                    .different
                    .push(format!("{name}: the second run did not write it")),
                Some(sha256) if *sha256 == file.sha256 => found.same += 1,
                Some(_) => found
                    .different
                    .push(format!("{name}: the second run wrote different bytes")),
            }
        }
    }
    for name in others.keys() {
        if !run.files.iter().any(|file| file.path == *name) {
            let sentence = format!("{name}: only the second run wrote it");
            found.different.push(sentence);
        }
    }
    if !found.different.is_empty()
        && let Some(row) = stopped_by_a_clock(run)?.or(stopped_by_a_clock(again)?)
    {
        let why = format!(
            "the decision at row {row} of steps reached a time limit, so later results may differ"
        );
        for sentence in std::mem::take(&mut found.different) {
            found.except(&sentence, &why);
        }
    }
    Ok(found)
}

/// The index of the first row of `steps` at which a solver with a time limit did not prove its plan optimal.
fn stopped_by_a_clock(run: &RunInfo) -> Result<Option<usize>> {
    if !run.tables().any(|table| table == "steps") {
        return Ok(None);
    }
    let steps = run.table("steps")?;
    let texts = |name: &str| {
        let mut columns = steps.columns.iter();
        match columns.find(|(other, _)| other == name) {
            Some((_, Column::Texts(texts))) => texts.as_slice(),
            _ => &[],
        }
    };
    // Of the built-in solvers, only HiGHS and CBC have a time limit.
    let is_timed = |solver: &str| !["exact", "equal-share", "scripted"].contains(&solver);
    let rows = texts("status").iter().zip(texts("solver"));
    let stopped = |(status, solver): (&std::borrow::Cow<'_, str>, &std::borrow::Cow<'_, str>)| {
        ["kept", "feasible"].contains(&status.as_ref()) && is_timed(solver)
    };
    Ok(rows.into_iter().position(stopped))
}

impl Again {
    /// Records a file that was not compared, or a difference that was accepted, with the reason.
    pub fn except(&mut self, name: &str, why: &str) {
        self.excepted.insert(name.to_owned(), why.to_owned());
    }
}

/// Lists the differences and the exceptions as text.
impl Display for Again {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "run again: {} identical", self.same)?;
        if !self.different.is_empty() {
            write!(f, ", {} different:", self.different.len())?;
        }
        for sentence in &self.different {
            write!(f, "\n  {sentence}")?;
        }
        if !self.excepted.is_empty() {
            f.write_str("\n  not compared:")?;
        }
        for (name, why) in &self.excepted {
            write!(f, "\n    {name} ({why})")?;
        }
        Ok(())
    }
}
