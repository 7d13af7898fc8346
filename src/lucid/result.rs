//! Results of simulating a whole trace.

use super::schedule::Schedule;
use crate::domain::jobs::Job;

/// One policy's simulation of a whole trace.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyRun {
    /// Name of the policy, as in file names.
    pub policy: &'static str,
    /// The virtual clusters, in the cluster's order.
    pub vcs: Vec<VcRun>,
    /// The profiling stage, of a policy that has one.
    pub profiler: Option<ProfilerRun>,
}

/// One virtual cluster's part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct VcRun {
    /// Index of the virtual cluster.
    pub vc: usize,
    /// Indices in the trace of the jobs scheduled here, ascending.
    pub jobs: Vec<usize>,
    /// What happened; its jobs are in the order of [`VcRun::jobs`].
    pub schedule: Schedule,
}

/// The profiling stage.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfilerRun {
    /// Indices in the trace of the jobs profiled, ascending.
    pub jobs: Vec<usize>,
    /// What happened; its jobs are in the order of [`ProfilerRun::jobs`].
    pub schedule: Schedule,
    /// Seconds after which a job is released; those no longer have ended here.
    pub limit: i64,
}

impl ProfilerRun {
    /// Place of a job of the trace among those profiled.
    pub fn position(&self, job: usize) -> Option<usize> {
        self.jobs.binary_search(&job).ok()
    }

    /// Whether a job of the trace has ended while it was profiled.
    pub fn ended(&self, job: usize, submitted: &Job) -> bool {
        submitted.duration <= self.limit && self.position(job).is_some()
    }

    /// Seconds that a job of the trace has waited to be profiled.
    pub fn queued(&self, job: usize) -> i64 {
        let position = self.position(job);
        position.map_or(0, |position| self.schedule.jobs[position].queue)
    }
}
