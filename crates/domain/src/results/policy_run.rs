//! The results of a simulation of a whole trace under one policy.

use super::schedule::{JobOutcome, Schedule};
use crate::cluster::Cluster;
use crate::jobs::Job;

/// One policy's simulation of a whole trace.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyRun {
    /// The policy's name in files, such as `fifo` or `lucid_corrected`.
    pub policy: &'static str,
    /// The virtual clusters, in the cluster's order.
    pub vcs: Vec<VcRun>,
    /// The profiling stage; `None` if there was no profiler.
    pub profiler: Option<ProfilerRun>,
}

/// A virtual cluster's part of a [`PolicyRun`].
#[derive(Debug, Clone, PartialEq)]
pub struct VcRun {
    /// Index of the virtual cluster in [`Cluster::vcs`].
    pub vc: usize,
    /// Indices of the virtual cluster's jobs in [`crate::Trace::jobs`], in the order in which they
    /// joined the queue. Jobs that ended in the profiler are left out.
    pub jobs: Vec<usize>,
    /// The schedule; `schedule.jobs[i]` is the outcome of job `jobs[i]`.
    pub schedule: Schedule,
}

/// The profiling stage: jobs of all virtual clusters on the nodes of the profiler.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfilerRun {
    /// Indices of the jobs that the profiler ran, ascending.
    pub jobs: Vec<usize>,
    /// The schedule; `schedule.jobs[i]` is the outcome of job `jobs[i]`.
    pub schedule: Schedule,
    /// Maximum time for which a job is profiled, in seconds. Jobs of at most this duration end in
    /// the profiler.
    pub limit: i64,
    /// Number of GPUs of the profiler's own nodes, which are not borrowed from a virtual cluster.
    pub extra_gpus: u64,
}

/// A job of the trace with its final outcome.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finished<'a> {
    /// Index of the job in [`crate::Trace::jobs`].
    pub job: usize,
    /// The job's outcome in its virtual cluster, or in the profiler if the job ended there.
    pub outcome: &'a JobOutcome,
    /// Whether the job ended in the profiler and never reached its virtual cluster.
    pub in_profiler: bool,
}

impl VcRun {
    /// The jobs of the virtual cluster, by index in the trace, with their outcomes.
    pub fn outcomes(&self) -> impl Iterator<Item = (usize, &JobOutcome)> {
        self.jobs.iter().copied().zip(&self.schedule.jobs)
    }
}

impl ProfilerRun {
    /// The jobs of the profiler, by index in the trace, with their outcomes in the profiler.
    pub fn outcomes(&self) -> impl Iterator<Item = (usize, &JobOutcome)> {
        self.jobs.iter().copied().zip(&self.schedule.jobs)
    }

    /// Position of a job of the trace among the profiled jobs; `None` if the job was not profiled.
    pub fn position(&self, job: usize) -> Option<usize> {
        self.jobs.binary_search(&job).ok()
    }

    /// Whether a job of the trace ended while it was profiled.
    pub fn ended(&self, job: usize, submitted: &Job) -> bool {
        submitted.duration <= self.limit && self.position(job).is_some()
    }

    /// The profiler's loans: the second of each change, and the number of nodes borrowed (positive) or returned
    /// (negative). Nodes that were never returned count as returned at the end of the profiler's last job.
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

    /// Second at which the profiling of a job ended; `None` if the job was not profiled.
    pub fn end(&self, job: usize) -> Option<i64> {
        let position = self.position(job)?;
        Some(self.schedule.jobs[position].end)
    }

    /// Seconds for which a job of the trace waited to be profiled; 0 if the job was not profiled.
    pub fn queued(&self, job: usize) -> i64 {
        let position = self.position(job);
        position.map_or(0, |position| self.schedule.jobs[position].queue)
    }
}

impl PolicyRun {
    /// Number of GPUs available to the policy. These are the GPUs of the whole cluster, including
    /// those lent to the profiler, and the GPUs of the profiler's own nodes.
    pub fn gpus(&self, cluster: &Cluster) -> u64 {
        cluster.gpus()
            + self
                .profiler
                .as_ref()
                .map_or(0, |profiler| profiler.extra_gpus)
    }

    /// The final outcome of each job, in the trace's order.
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
