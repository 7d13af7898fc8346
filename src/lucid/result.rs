//! Results: what a policy made of a whole trace.

use super::schedule::{JobOutcome, Schedule};
use crate::domain::cluster::Cluster;
use crate::domain::jobs::Job;

/// One policy's simulation of a whole trace.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyRun {
    /// Its name in files, such as `fifo` or `lucid_corrected`.
    pub policy: &'static str,
    /// Its virtual clusters, in the cluster's order.
    pub vcs: Vec<VcRun>,
    /// The profiling stage, where there was one.
    pub profiler: Option<ProfilerRun>,
}

/// A virtual cluster's part in a [`PolicyRun`].
#[derive(Debug, Clone, PartialEq)]
pub struct VcRun {
    /// Index of the virtual cluster.
    pub vc: usize,
    /// Indices of its jobs in [`crate::domain::Trace::jobs`], ascending; without those
    /// that the profiler finished.
    pub jobs: Vec<usize>,
    /// Its schedule; `schedule.jobs[i]` is of job `jobs[i]`.
    pub schedule: Schedule,
}

/// The profiling stage: jobs of all virtual clusters on nodes of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfilerRun {
    /// Indices of the jobs it ran, ascending.
    pub jobs: Vec<usize>,
    /// Its schedule; `schedule.jobs[i]` is of job `jobs[i]`.
    pub schedule: Schedule,
    /// Longest time it gives a job, in seconds; no longer jobs end there.
    pub limit: i64,
    /// GPUs of its nodes that no virtual cluster lends.
    pub extra_gpus: u64,
}

/// A job of the trace, and how it went in the end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finished<'a> {
    /// Index of the job.
    pub job: usize,
    /// What became of it.
    pub outcome: &'a JobOutcome,
    /// Whether it ended in the profiler and never reached its virtual cluster.
    pub in_profiler: bool,
}

impl VcRun {
    /// Its jobs with what became of each.
    pub fn outcomes(&self) -> impl Iterator<Item = (usize, &JobOutcome)> {
        self.jobs.iter().copied().zip(&self.schedule.jobs)
    }
}

impl ProfilerRun {
    /// Its jobs with what became of each there.
    pub fn outcomes(&self) -> impl Iterator<Item = (usize, &JobOutcome)> {
        self.jobs.iter().copied().zip(&self.schedule.jobs)
    }

    /// Place of a job of the trace among those profiled.
    pub fn position(&self, job: usize) -> Option<usize> {
        self.jobs.binary_search(&job).ok()
    }

    /// Whether a job of the trace has ended while it was profiled.
    pub fn ended(&self, job: usize, submitted: &Job) -> bool {
        submitted.duration <= self.limit && self.position(job).is_some()
    }

    /// When it borrowed (1) and returned (-1) a node. One that it never returned goes back
    /// with the end of its last job.
    pub fn loans(&self) -> Vec<(i64, i32)> {
        let mut loans = self.schedule.scaling.clone();
        let borrowed: i32 = loans.iter().map(|&(_, nodes)| nodes).sum();
        let ends = self.schedule.jobs.iter().map(|job| job.end);
        loans.extend(
            ends.max()
                .filter(|_| borrowed > 0)
                .map(|end| (end, -borrowed)),
        );
        loans
    }

    /// Seconds that a job of the trace has waited to be profiled.
    pub fn queued(&self, job: usize) -> i64 {
        let position = self.position(job);
        position.map_or(0, |position| self.schedule.jobs[position].queue)
    }
}

impl PolicyRun {
    /// GPUs of the policy: those of the whole cluster, no node lent out, and those that the
    /// profiler has beside them.
    pub fn gpus(&self, cluster: &Cluster) -> u64 {
        cluster.gpus()
            + self
                .profiler
                .as_ref()
                .map_or(0, |profiler| profiler.extra_gpus)
    }

    /// How each job went in the end, in the trace's order.
    pub fn finished(&self) -> Vec<Finished<'_>> {
        let jobs = self.vcs.iter().flat_map(VcRun::outcomes);
        let mut finished: Vec<_> = jobs.map(|of| Finished::new(of, false)).collect();
        finished.sort_unstable_by_key(|f| f.job);
        let profiled = self.profiler.iter().flat_map(ProfilerRun::outcomes);
        let ended_there: Vec<_> = profiled
            .filter(|(job, _)| finished.binary_search_by_key(job, |f| f.job).is_err())
            .map(|of| Finished::new(of, true))
            .collect();
        finished.extend(ended_there);
        finished.sort_unstable_by_key(|f| f.job);
        finished
    }
}

impl<'a> Finished<'a> {
    fn new((job, outcome): (usize, &'a JobOutcome), in_profiler: bool) -> Self {
        Finished {
            job,
            outcome,
            in_profiler,
        }
    }
}
