//! Reads the results of `gleaner simulate`.

use super::files::RunFiles;
use super::rows::{read_columns, read_records};
use gleaner_domain::error::{Fault, Result};
use gleaner_domain::results::Record;
use gleaner_domain::results::simulate::{PolicyFigures, Summary};
use gleaner_domain::results::states::JobRow;

mod hours;

pub use hours::Hour;

/// The results of a simulation.
#[derive(Debug, Clone)]
pub struct SimulateRun {
    /// The results of each policy, in the order in which the user named the policies.
    pub policies: Vec<PolicyRun>,
    /// Time of the first submission, in seconds on the trace's clock; `None` if there are no jobs.
    pub first_submission: Option<i64>,
    /// Time of the last submission, in seconds on the trace's clock; `None` if there are no jobs.
    pub last_submission: Option<i64>,
    /// Whether a job's speed depends on its placement.
    pub placement_affects_speed: bool,
}

/// The results of a policy.
#[derive(Debug, Clone)]
pub struct PolicyRun {
    /// The name of the policy.
    pub name: String,
    /// The policy's figures from `summary.json`.
    pub figures: PolicyFigures,
    /// All jobs, in the order of the trace.
    pub jobs: Vec<JobEnd>,
    /// The mean state of the cluster in each hour.
    pub hours: Vec<Hour>,
}

/// The times of a job, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobEnd {
    /// Queuing delay.
    pub queue: i64,
    /// JCT: time from submission to end.
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
        Ok(SimulateRun {
            policies,
            first_submission: summary.first_submission,
            last_submission: summary.last_submission,
            placement_affects_speed: summary.placement_affects_speed,
        })
    }
}

/// Checks the name of a policy. The name is a part of file names, so it must not lead to another
/// directory.
fn check_name(files: &RunFiles<'_>, name: &str) -> Result<()> {
    let harmless = |byte: u8| byte.is_ascii_alphanumeric() || b"-_+".contains(&byte);
    if !name.is_empty() && name.len() <= 100 && name.bytes().all(harmless) {
        Ok(())
    } else {
        Err(in_summary(
            files,
            "policies",
            format!("the policy {name:?}"),
        ))
    }
}

/// The error for a faulty field of `summary.json`.
fn in_summary(files: &RunFiles<'_>, field: &str, found: String) -> gleaner_domain::Error {
    let fault = Fault::of(
        &files.path(SUMMARY),
        found,
        "a value that gleaner simulate writes",
    );
    fault.field(field).remedy("repeat the run").into()
}

/// Reads the times of a policy's jobs.
fn read_jobs(files: &RunFiles<'_>, policy: &str) -> Result<Vec<JobEnd>> {
    let times = JobRow::FIELDS.iter().copied();
    let times: Vec<_> = times
        .filter(|f| ["queue", "jct"].contains(&f.name))
        .collect();
    read_columns(files, &table_of_jobs(policy), &times, |row, cols| {
        let seconds = |column: usize| row.cell(cols[column]).integer(0..=i64::MAX);
        Ok(JobEnd {
            queue: seconds(0)?,
            jct: seconds(1)?,
        })
    })
}

/// Reads every column of a policy's table of jobs.
pub(super) fn read_job_rows(files: &RunFiles<'_>, policy: &str) -> Result<Vec<JobRow>> {
    read_records(files, &table_of_jobs(policy), |_, _| None)
}

fn table_of_jobs(policy: &str) -> String {
    format!("{policy}_jobs.parquet")
}
