//! Reads the results of `gleaner simulate`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::files::RunFiles;
use super::rows::read_columns;
use crate::ingest::rows::Cell;
use gleaner_core::error::{Fault, Result};
use gleaner_core::results::simulate::{PolicyFigures, Summary};
use gleaner_core::results::states::{JCT, JOBS, JobRow, QUEUE};

mod hours;

pub use hours::Hour;

/// The results of a simulation.
#[derive(Debug, Clone)]
pub struct SimulateRun {
    /// The results of each policy, in the order in which the user named the policies.
    pub policies: Vec<PolicyRun>,
}

/// The results of a policy.
#[derive(Debug, Clone)]
pub struct PolicyRun {
    /// The name of the policy.
    pub name: String,
    /// The figures of the policy in `summary.json`.
    pub figures: PolicyFigures,
    /// All jobs, in the order of the trace.
    pub jobs: Vec<JobEnd>,
    /// The state of the cluster in each hour.
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
        Ok(SimulateRun { policies })
    }
}

/// Checks the name of a policy. It is a part of file names, so it must not lead to another
/// directory.
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

/// The fault of a field of `summary.json`.
fn in_summary(files: &RunFiles<'_>, field: &str, found: String) -> gleaner_core::Error {
    let fault = Fault::of(&files.path(SUMMARY), found, "what gleaner simulate writes");
    fault.field(field).remedy("run it again").into()
}

/// Reads the times of the jobs of a policy.
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

/// All columns of a policy's table of jobs that can be verified.
pub(super) fn read_job_rows(files: &RunFiles<'_>, policy: &str) -> Result<Vec<JobRow>> {
    let name = format!("{policy}_jobs.parquet");
    let mut vcs: BTreeSet<Arc<str>> = BTreeSet::new();
    read_columns(files, &name, &JOBS, |row, cols| {
        let [
            id,
            vc,
            gpus,
            submit,
            _,
            start,
            end,
            queue,
            jct,
            checkpoints,
            nodes,
        ] = std::array::from_fn(|column| row.cell(cols[column]));
        let second = |cell: Cell<'_>| cell.integer(i64::MIN / 4..=i64::MAX / 4);
        let count = |cell: Cell<'_>| {
            cell.integer(0..=u32::MAX.into())
                .map(|number| number as u32)
        };
        let vc = vc.text()?;
        let vc = match vcs.get(vc.as_ref()) {
            Some(known) => Arc::clone(known),
            None => {
                let new: Arc<str> = vc.into();
                vcs.insert(Arc::clone(&new));
                new
            }
        };
        Ok(JobRow {
            id: id.text()?.into_owned(),
            vc,
            gpus: count(gpus)?,
            submit: second(submit)?,
            start: second(start)?,
            end: second(end)?,
            queue: second(queue)?,
            jct: second(jct)?,
            checkpoints: count(checkpoints)?,
            nodes: nodes.text()?.into_owned(),
        })
    })
}
