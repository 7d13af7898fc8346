//! The results of `gleaner simulate`.

use super::files::RunFiles;
use super::rows::read_columns;
use crate::error::{Fault, Result};
use crate::results::simulate::{PolicyFigures, Summary};
use crate::results::states::{JCT, QUEUE};

mod hours;

pub use hours::Hour;

/// A simulation's results.
#[derive(Debug, Clone)]
pub struct SimulateRun {
    /// One a policy, in the order in which they were asked for.
    pub policies: Vec<PolicyRun>,
}

/// A policy's results.
#[derive(Debug, Clone)]
pub struct PolicyRun {
    /// Its name.
    pub name: String,
    /// What `summary.json` says of it.
    pub figures: PolicyFigures,
    /// Its jobs, in the trace's order.
    pub jobs: Vec<JobEnd>,
    /// The cluster's state by the hour.
    pub hours: Vec<Hour>,
}

/// A job and how it went, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobEnd {
    /// Queuing.
    pub queue: i64,
    /// From submission to the end.
    pub jct: i64,
}

const SUMMARY: &str = "summary.json";

impl SimulateRun {
    pub(super) fn read(files: &RunFiles<'_>) -> Result<Self> {
        let summary: Summary = files.json(SUMMARY)?;
        let step = summary.seq_step_s;
        if !hours::STEPS.contains(&step) {
            return Err(in_summary(files, "seq_step_s", step.to_string()));
        }
        let mut policies = Vec::new();
        for (name, figures) in summary.policies.0 {
            check_name(files, &name)?;
            policies.push(PolicyRun {
                jobs: read_jobs(files, &name)?,
                hours: hours::read(files, &name, step, figures.makespan_s)?,
                figures,
                name,
            });
        }
        Ok(SimulateRun { policies })
    }
}

/// A policy's name is part of the names of its files: it must not lead elsewhere.
fn check_name(files: &RunFiles<'_>, name: &str) -> Result<()> {
    let harmless = |byte: u8| byte.is_ascii_alphanumeric() || b"-_+".contains(&byte);
    match !name.is_empty() && name.len() <= 100 && name.bytes().all(harmless) {
        true => Ok(()),
        false => Err(in_summary(
            files,
            "policies",
            format!("the policy {name:?}"),
        )),
    }
}

fn in_summary(files: &RunFiles<'_>, field: &str, found: String) -> crate::Error {
    let fault = Fault::of(&files.path(SUMMARY), found, "what gleaner simulate writes");
    fault.field(field).remedy("run it again").into()
}

fn read_jobs(files: &RunFiles<'_>, policy: &str) -> Result<Vec<JobEnd>> {
    let name = format!("{policy}_jobs.parquet");
    read_columns(files, &name, &[QUEUE, JCT], |row, cols| {
        let seconds = |column: usize| row.cell(cols[column]).integer(0..=i64::MAX);
        Ok(JobEnd {
            queue: seconds(0)?,
            jct: seconds(1)?,
        })
    })
}
