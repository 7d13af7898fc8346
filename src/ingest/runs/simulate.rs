//! The results of `gleaner simulate`.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::files::RunFiles;
use crate::error::{Fault, Result};
use crate::ingest::Gatherer;
use crate::ingest::rows::Header;

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

/// A policy in `summary.json`.
#[derive(Debug, Clone, Deserialize)]
pub struct PolicyFigures {
    /// Of all jobs.
    #[serde(flatten)]
    pub all: Delays,
    /// Seconds from the first submission to the last end.
    pub makespan_s: i64,
    /// GPUs of the policy.
    pub gpus: u64,
    /// Share of the GPU-seconds of [`PolicyFigures::gpus`] in which a job held the GPU.
    pub gpu_utilisation: f64,
    /// Preemptions, each with a checkpoint.
    pub checkpoints: u64,
    /// Of small jobs, where there are any.
    pub small: Option<Delays>,
    /// Of large jobs, where there are any.
    pub large: Option<Delays>,
    /// By virtual cluster, in the cluster's order; `null` where it had no job.
    #[serde(deserialize_with = "in_order")]
    pub vcs: Vec<(String, Option<VcDelays>)>,
}

/// How long jobs took and waited, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Delays {
    /// Average job completion time.
    pub avg_jct_s: f64,
    /// Average queuing.
    pub avg_queue_s: f64,
    /// 99.9th percentile of queuing.
    pub p999_queue_s: f64,
    /// Jobs.
    pub jobs: u64,
}

/// The averages of a virtual cluster, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct VcDelays {
    /// Average job completion time.
    pub avg_jct_s: f64,
    /// Average queuing.
    pub avg_queue_s: f64,
}

/// A job and how it went, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobEnd {
    /// Queuing.
    pub queue: i64,
    /// From submission to the end.
    pub jct: i64,
}

#[derive(Deserialize)]
struct Document {
    policies: Map<String, Value>,
    /// Seconds between the rows of the tables of states.
    seq_step_s: i64,
}

const SUMMARY: &str = "summary.json";

impl SimulateRun {
    pub(super) fn read(files: &RunFiles<'_>) -> Result<Self> {
        let document: Document = files.json(SUMMARY)?;
        let step = document.seq_step_s;
        if !hours::STEPS.contains(&step) {
            return Err(in_summary(files, "seq_step_s", step.to_string()));
        }
        let mut policies = Vec::new();
        for (name, figures) in document.policies {
            check_name(files, &name)?;
            let figures: PolicyFigures = serde_json::from_value(figures)
                .map_err(|error| in_summary(files, &name, error.to_string()))?;
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

impl PolicyFigures {
    /// The averages of a virtual cluster; `None` where it had no job.
    pub fn vc(&self, name: &str) -> Option<VcDelays> {
        self.vcs.iter().find(|(vc, _)| vc == name)?.1
    }
}

/// A map as pairs in the order of the file.
fn in_order<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Vec<(String, Option<VcDelays>)>, D::Error> {
    let map = Map::deserialize(deserializer)?;
    let pairs = map.into_iter().map(|(name, value)| {
        let delays = serde_json::from_value(value);
        Ok((name, delays.map_err(serde::de::Error::custom)?))
    });
    pairs.collect()
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
