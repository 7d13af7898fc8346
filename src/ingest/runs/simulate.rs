//! The results of `gleaner simulate`.

use super::files::RunFiles;
use crate::error::{Fault, Result};
use crate::ingest::Gatherer;
use crate::ingest::rows::Header;
use crate::results::simulate::{PolicyFigures, Summary};

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
    let source = files.open(&format!("{policy}_jobs.parquet"))?;
    let mut header = Header::open(&source)?;
    let queue = header.require(&["queue"], "queuing in seconds")?;
    let jct = header.require(&["jct"], "completion times in seconds")?;
    let (mut jobs, mut faults) = (Vec::new(), Gatherer::default());
    header.finish()?.visit(|row| {
        let seconds = 0..=i64::MAX;
        let job = row.and_then(|row| {
            Ok(JobEnd {
                queue: row.cell(queue).integer(seconds.clone())?,
                jct: row.cell(jct).integer(seconds)?,
            })
        });
        match job {
            Ok(job) => jobs.push(job),
            Err(fault) => faults.add(*fault)?,
        }
        Ok(())
    })?;
    faults.finish(jobs)
}
