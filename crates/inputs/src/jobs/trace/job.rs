//! The rows of a trace: their columns, and the states and workloads of their jobs.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use super::Options;
use crate::jobs::bounds::{AMOUNT, LONGEST, MAX_GPUS};
use crate::jobs::words::name;
use crate::jobs::workload::GivenUsage;
use crate::rows::{Clock, Id, Later, Line, Or, Whole, input};
use gleaner_domain::{Usage, Workload};
use gleaner_io::rows::CellResult;
use gleaner_io::rows::CellTime;

input! {
    /// A job.
    pub struct JobRow {
        /// the job's unique id
        id: String as Id = "job_id" or "jobname" [""],
        /// the job's virtual cluster
        vc: PhantomData<String> as Later(Id) = "vc" [""],
        /// the number of GPUs that the job requests: at most as many as the virtual cluster has; jobs with 0 GPUs are
        /// left out
        gpus: i64 as Whole(1..=MAX_GPUS) = "gpu_num" [""],
        /// the time of the job's submission
        submit: PhantomData<CellTime> as Later(Clock) = "submit_time" [""],
        /// the run time of the job alone and at full speed
        duration: i64 as Whole(1..=LONGEST) = "duration" ["s"],
        /// the job's user; not used by any policy
        user: String as Or(Id, String::new()) = "user" [""],
        /// the job's name, if the table has `job_id`; not used by any policy
        name: String as Or(Id, String::new()) = "jobname" [""],
        /// the number of CPUs that the job requests; not used by any policy; default: 0
        cpus: f64 as Or(AMOUNT, 0.0) = "cpu_num" [""],
        /// the state in which the job ended; not used by any policy
        state: String as Or(Id, String::new()) = "state" [""],
        ..workload: Option<Workload>,
        ..usage: GivenUsage,
    }
}

/// The state in which a job ended. Philly's states are converted to Slurm's.
pub(super) fn state(word: String) -> String {
    match word.as_str() {
        "Pass" => "COMPLETED".to_owned(),
        "Failed" => "FAILED".to_owned(),
        "Killed" => "CANCELLED".to_owned(),
        _ => word,
    }
}

/// The GPU usage of a job's workload according to the profiles; 0 if there are no profiles.
///
/// # Errors
/// The workload has no profile, although profiles are given and [`Options::unprofiled`] is not set.
pub(super) fn profiled(
    line: &Line<'_, JobRow>,
    workload: Option<&Workload>,
    options: &Options<'_>,
) -> CellResult<Usage> {
    let (Some(workload), Some(profiles)) = (workload, options.profiles) else {
        return Ok(Usage::default());
    };
    match profiles.get(workload) {
        Some(profile) => Ok(profile.usage),
        None if options.unprofiled => Ok(Usage::default()),
        None => {
            let mut fault = line.fault("model", name(workload), "a workload with a profile");
            fault.remedy = "measure the workload and add it to the profiles".to_owned();
            Err(fault)
        }
    }
}

/// The distinct workloads, in order of their first appearance.
#[derive(Debug, Default)]
pub(super) struct Workloads {
    indices: BTreeMap<Workload, usize>,
    list: Vec<Workload>,
}

impl Workloads {
    /// Returns the index of a workload, which is added if it is new.
    pub fn index(&mut self, workload: Workload) -> usize {
        if let Some(index) = self.indices.get(&workload) {
            return *index;
        }
        let index = self.list.len();
        self.list.push(workload.clone());
        self.indices.insert(workload, index);
        index
    }

    /// The workloads, by index.
    pub fn into_list(self) -> Vec<Workload> {
        self.list
    }
}
