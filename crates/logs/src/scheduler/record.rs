//! What readers of logs report, whatever the format: jobs, and other holds of nodes.

use std::borrow::Cow;

use gleaner_core::domain::Stamp;
use gleaner_occupancy::{Hold, NodeRange};

/// What one or several lines of a log say.
#[derive(Debug)]
pub enum Record<'l> {
    /// A job.
    Job(Job<'l>),
    /// An outage, a drain or a reservation, which kept nodes from running jobs.
    Hold(Hold, Run<'l>),
}

/// A job. A reader leaves the default where the log says nothing.
#[derive(Debug, Default)]
pub struct Job<'l> {
    pub id: &'l str,
    pub user: &'l str,
    /// The virtual cluster or queue.
    pub vc: &'l str,
    /// The state, in Slurm's words if the job goes into a table of jobs.
    pub state: &'l str,
    /// Number of GPUs in each run.
    pub gpus: u64,
    /// Number of CPU cores in each run.
    pub cpus: f64,
    pub submit: Option<Moment>,
    /// The runs in order of their starts; none if the job never ran, or if only `duration` is known.
    pub runs: &'l [Run<'l>],
    /// Seconds that the job ran, as stated in the log.
    pub duration: Option<f64>,
    /// Whether the state says that the job has ended. A last run without an end is then a fault;
    /// otherwise the job is still running.
    pub is_over: bool,
    /// Whether other records with this id describe the same job: another run, or the end of a run
    /// that has no end here.
    pub is_part: bool,
}

/// A time in which nodes were held.
#[derive(Debug, Clone, Copy)]
pub struct Run<'l> {
    /// `None` if the log lacks it, which is a fault.
    pub start: Option<Moment>,
    /// `None` if the log lacks it.
    pub end: Option<Moment>,
    pub nodes: Nodes<'l>,
}

impl<'l> Run<'l> {
    /// A run between two seconds since 1970, or of a clock that only the log has.
    pub fn between(from: i64, to: Option<i64>, nodes: Nodes<'l>) -> Self {
        Run {
            start: Some(Moment::Second(from)),
            end: to.map(Moment::Second),
            nodes,
        }
    }
}

/// The nodes of a run.
#[derive(Debug, Clone, Copy)]
pub enum Nodes<'l> {
    /// The log does not say, or the reader does not need them.
    Unknown,
    /// Lists of nodes, such as `n[01-04]`, and their number if the log states it.
    Lists(&'l [Cow<'l, str>], Option<usize>),
    /// Machines of which GPUs were held.
    Machines(&'l [MachineShare]),
    /// The number of nodes. The log does not name them.
    Count(u32),
    /// Nodes that the reader has looked up before.
    Found(&'l [NodeRange]),
}

/// A machine of which a run held GPUs.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineShare {
    pub name: String,
    /// Number of its GPUs that the run held.
    pub gpus: u64,
}

/// A time in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A time as written. The clock of the log says which second it is.
    Written(Stamp),
    /// A second since 1970, or of a clock that only the log has.
    Second(i64),
}
