//! The records that readers of all formats report: jobs, and other periods during which nodes were held.

use std::borrow::Cow;

use super::short::Lack;
use crate::occupancy::{Hold, NodeRange};
use gleaner_domain::Stamp;

/// A record, described by one or more lines of a log.
#[derive(Debug)]
pub enum Record<'l> {
    /// A job.
    Job(Job<'l>),
    /// An outage, a drain or a reservation, during which nodes could not run jobs.
    Hold(Hold, Run<'l>),
}

/// A job. A reader keeps the default of each field that the log does not state.
#[derive(Debug, Default)]
pub struct Job<'l> {
    /// Id of the job in the scheduler.
    pub id: &'l str,
    /// The user who submitted the job.
    pub user: &'l str,
    /// The virtual cluster or queue to which the job was submitted.
    pub vc: &'l str,
    /// The state of the job. For a table of jobs, it is in Slurm's terms.
    pub state: &'l str,
    /// Number of GPUs in each run.
    pub gpus: u64,
    /// Number of CPU cores in each run.
    pub cpus: f64,
    /// Submission time.
    pub submit: Option<Moment>,
    /// The wait of a job that never ran, if the log states it.
    pub queued: Option<Queued>,
    /// The runs in order of their starts; empty if the job never ran, or if only `duration` is known.
    pub runs: &'l [Run<'l>],
    /// Run time of the job in seconds, as stated in the log.
    pub duration: Option<f64>,
    /// Whether the last run has no end although the state shows that the job has ended, which is a fault. If this is
    /// false, a last run without an end is still in progress.
    pub is_over: bool,
    /// Whether other records with this id describe the same job: another run, or the end of a run
    /// that has no end here.
    pub is_part: bool,
}

/// The wait of a job that never ran.
#[derive(Debug, Clone, Copy)]
pub struct Queued {
    /// Time of the cancellation; `None` if the job was still waiting when the log was written.
    pub until: Option<Moment>,
    /// Number of nodes that the job requested; 1 if the log does not state it.
    pub nodes: usize,
}

/// A period during which nodes were held.
#[derive(Debug, Clone, Copy)]
pub struct Run<'l> {
    /// Start; `None` if the log does not state it, which is a fault.
    pub start: Option<Moment>,
    /// End; `None` if the log does not state it.
    pub end: Option<Moment>,
    /// The nodes that were held.
    pub nodes: Nodes<'l>,
}

impl<'l> Run<'l> {
    /// A run between two times, in seconds since 1970 or on the log's own clock.
    pub fn between(from: i64, to: Option<i64>, nodes: Nodes<'l>) -> Self {
        Run {
            start: Some(Moment::Second(from)),
            end: to.map(Moment::Second),
            nodes,
        }
    }
}

/// The nodes of a run, as far as the log states them.
#[derive(Debug, Clone, Copy)]
pub enum Nodes<'l> {
    /// The log does not state the nodes, or the reader does not need them.
    Unknown,
    /// Complete lists of nodes, such as `n[01-04]`.
    Named(&'l [Cow<'l, str>]),
    /// Lists of nodes that may have been cut, and the number of nodes if the log states it.
    Lists(&'l [Cow<'l, str>], Option<usize>),
    /// Lists of nodes, at least the last of which is damaged or incomplete, and the number of nodes if the log states
    /// it.
    Damaged(&'l [Cow<'l, str>], Option<usize>),
    /// Machines, with the number of GPUs that the run held on each.
    Machines(&'l [MachineShare]),
    /// Only the number of nodes, because the log does not name them.
    Count(u32),
    /// Nodes that the reader has already looked up, and the nodes that are missing from their list.
    Found(&'l [NodeRange], Option<&'l Lack>),
}

/// A machine on which a run held GPUs.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineShare {
    pub name: String,
    /// Number of GPUs that the run held on the machine.
    pub gpus: u64,
}

/// A time in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A time as written in the log. The log's clock converts it to seconds.
    Written(Stamp),
    /// Seconds since 1970, or on the log's own clock.
    Second(i64),
}
