//! The state of a virtual cluster as policies see it.

use std::collections::BTreeSet;

use super::engine::Refused;
use super::free::FreeGpus;
use super::nodes::Nodes;
use super::placer::Placer;
use super::policy::{Decision, Refusal};
use super::service::left_after;
use gleaner_domain::jobs::Job;
use gleaner_domain::results::schedule::Placement;

/// A read-only view of a virtual cluster at a given second.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub(super) now: i64,
    pub(super) jobs: &'a [&'a Job],
    pub(super) live: &'a [LiveJob],
    pub(super) running: &'a BTreeSet<(u64, usize)>,
    pub(super) pending: usize,
    pub(super) nodes: &'a Nodes,
    pub(super) placer: &'a dyn Placer,
}

/// A job while it is simulated.
#[derive(Debug, Clone, Default)]
pub(super) struct LiveJob {
    pub status: Status,
    /// Remaining work at second `since`, in seconds at full speed.
    pub left: f64,
    pub since: i64,
    /// Second of the job's latest start.
    pub started: i64,
    pub speed: f64,
    /// Rank by latest start: the number of earlier starts among all jobs.
    pub order: u64,
    pub placement: Placement,
    /// Whether the job counts as the only job on its GPUs. Without corrections, a job may still count as sharing
    /// after its partner has ended.
    pub alone: bool,
    /// The job that shares this job's GPUs, or last shared them.
    pub partner: Option<usize>,
    /// Second at which the job ends unless its speed changes.
    pub end: i64,
}

/// The status of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Status {
    /// Not submitted yet.
    #[default]
    Future,
    /// In the queue.
    Waiting,
    /// Running on its GPUs.
    Running,
    /// Ended.
    Done,
}

impl<'a> View<'a> {
    /// The current second.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// A job as it was submitted.
    pub fn job(&self, job: usize) -> &'a Job {
        self.jobs[job]
    }

    /// The status of a job.
    pub fn status(&self, job: usize) -> Status {
        self.live[job].status
    }

    /// Remaining work of a job, in seconds at full speed. Before the first start, this is all of its work. For a
    /// preempted job, it is the unfinished work plus the cost of its checkpoints.
    pub fn left(&self, job: usize) -> f64 {
        let live = &self.live[job];
        match live.status {
            Status::Running => left_after(live.left, live.speed, self.now - live.since),
            _ => live.left,
        }
    }

    /// Second of the latest start or change of speed of a running job.
    pub fn since(&self, job: usize) -> i64 {
        self.live[job].since
    }

    /// Second of the latest start of a job that has started.
    pub fn started(&self, job: usize) -> i64 {
        self.live[job].started
    }

    /// The job because of which a decision cannot be carried out now, and the reason; `None` if the decision can be
    /// carried out. The GPUs of a placement are not checked.
    pub fn refusal(&self, decision: &Decision) -> Option<(usize, Refusal)> {
        let waits = |job| match self.status(job) {
            Status::Waiting => None,
            _ => Some((job, Refusal::NotWaiting)),
        };
        let runs_alone = |job| match self.status(job) {
            Status::Running if self.is_alone(job) => None,
            Status::Running => Some((job, Refusal::NotAlone)),
            _ => Some((job, Refusal::NotRunning)),
        };
        match *decision {
            Decision::Start { job, .. } => waits(job),
            Decision::Share { job, with, .. } => waits(job).or_else(|| runs_alone(with)),
            Decision::Preempt { job } => {
                let just_started = self.started(job) == self.now;
                let refused = just_started.then_some((job, Refusal::JustStarted));
                runs_alone(job).or(refused)
            }
        }
    }

    /// Returns an error if a decision cannot be carried out now.
    pub(super) fn require(&self, decision: &Decision) -> Result<(), Refused> {
        match self.refusal(decision) {
            None => Ok(()),
            Some((job, refusal)) => Err(Refused {
                second: self.now,
                job: self.jobs[job].id.clone(),
                refusal,
            }),
        }
    }

    /// Rank of a running job by its latest start; lower for an earlier start.
    pub fn order(&self, job: usize) -> u64 {
        self.live[job].order
    }

    /// Whether a job is running and counts as alone on its GPUs.
    pub fn is_alone(&self, job: usize) -> bool {
        self.live[job].status == Status::Running && self.live[job].alone
    }

    /// The job that shares the given job's GPUs, or last shared them; `None` if no job ever did.
    pub fn partner(&self, job: usize) -> Option<usize> {
        self.live[job].partner
    }

    /// The GPUs of a running job.
    pub fn placement(&self, job: usize) -> &'a Placement {
        &self.live[job].placement
    }

    /// The running jobs, in the order of their starts.
    pub fn running(&self) -> impl Iterator<Item = usize> + 'a {
        self.running.iter().map(|&(_, job)| job)
    }

    /// Number of waiting jobs.
    pub fn pending(&self) -> usize {
        self.pending
    }

    /// The nodes of the virtual cluster.
    pub fn nodes(&self) -> &'a Nodes {
        self.nodes
    }

    /// The placer, which chooses the GPUs of jobs.
    pub fn placer(&self) -> &'a dyn Placer {
        self.placer
    }

    /// Places a job with `gpus` GPUs on the GPUs that are free now; `None` if the placer cannot place it.
    pub fn place(&self, gpus: u32) -> Option<Placement> {
        self.placer.place(self.nodes.free(), gpus)
    }

    /// The free GPUs.
    pub fn free(&self) -> &'a FreeGpus {
        self.nodes.free()
    }
}
