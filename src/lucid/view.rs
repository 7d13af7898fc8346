//! What policies see.

use std::collections::BTreeSet;

use super::free::FreeGpus;
use super::nodes::Nodes;
use super::placer::Placer;
use super::schedule::Placement;
use super::service::left_after;
use crate::domain::jobs::Job;

/// A virtual cluster at one second, read-only.
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
    /// Work left at second `since`, in seconds at full speed.
    pub left: f64,
    pub since: i64,
    pub speed: f64,
    /// Rank by latest start.
    pub order: u64,
    pub placement: Placement,
    /// Whether it counts as having its GPUs to itself.
    pub alone: bool,
    /// Who shares, or shared, its GPUs.
    pub partner: Option<usize>,
    /// When it ends, unless its speed changes.
    pub end: i64,
}

/// Where a job is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Status {
    /// Not submitted yet.
    #[default]
    Future,
    /// In the queue.
    Waiting,
    /// On its GPUs.
    Running,
    /// Ended.
    Done,
}

impl<'a> View<'a> {
    /// The second.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// A job as it was submitted.
    pub fn job(&self, job: usize) -> &'a Job {
        self.jobs[job]
    }

    /// Where a job is in its life.
    pub fn status(&self, job: usize) -> Status {
        self.live[job].status
    }

    /// Seconds of work left to a job at full speed.
    pub fn left(&self, job: usize) -> f64 {
        let live = &self.live[job];
        match live.status {
            Status::Running => left_after(live.left, live.speed, self.now - live.since),
            _ => live.left,
        }
    }

    /// Second of the latest start, or change of speed, of a running job.
    pub fn since(&self, job: usize) -> i64 {
        self.live[job].since
    }

    /// Rank of a running job by its latest start.
    pub fn order(&self, job: usize) -> u64 {
        self.live[job].order
    }

    /// Whether a running job has its GPUs to itself.
    pub fn is_alone(&self, job: usize) -> bool {
        self.live[job].status == Status::Running && self.live[job].alone
    }

    /// Who shares, or last shared, a job's GPUs.
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

    /// The nodes.
    pub fn nodes(&self) -> &'a Nodes {
        self.nodes
    }

    /// The placer.
    pub fn placer(&self) -> &'a dyn Placer {
        self.placer
    }

    /// Where so many GPUs are to be had now.
    pub fn place(&self, gpus: u32) -> Option<Placement> {
        self.placer.place(self.nodes.free(), gpus)
    }

    /// The free GPUs.
    pub fn free(&self) -> &'a FreeGpus {
        self.nodes.free()
    }
}
