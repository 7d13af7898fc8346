//! Schedules: the records of simulations.

use crate::cluster::GpuSet;

/// The placement of a job: the slots of its nodes (see [`NodeLife`]), each with the GPUs that the
/// job holds there.
pub type Placement = Vec<(u32, GpuSet)>;

/// The schedule of one virtual cluster.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schedule {
    /// The outcome of each job, in the order of the given jobs.
    pub jobs: Vec<JobOutcome>,
    /// Every uninterrupted run of a job on its GPUs, in ascending order of start.
    pub runs: Vec<JobRun>,
    /// Every node that was ever in the virtual cluster, by slot.
    pub nodes: Vec<NodeLife>,
    /// The state at every whole minute, from the start of the simulation to its end.
    pub samples: Vec<Samples>,
    /// Every change of a node between fully idle and in use, in chronological order.
    pub idleness: Vec<Idleness>,
    /// Seconds during which at least one job held a GPU, summed over all GPUs.
    pub busy_gpu_seconds: i64,
    /// Ends of jobs that shared their GPUs. After each, the partner returned to full speed; Lucid's simulator leaves it
    /// slow.
    pub corrections: Vec<Correction>,
    /// Changes in the number of nodes during the simulation: the second of each change, and the number of nodes added
    /// (positive) or removed (negative).
    pub scaling: Vec<(i64, i32)>,
}

/// The outcome of a job. Times are in seconds on the trace's clock.
#[derive(Debug, Clone, PartialEq)]
pub struct JobOutcome {
    /// Second of the first start.
    pub start: i64,
    /// Second of the end.
    pub end: i64,
    /// Seconds spent waiting, including in the profiler's queue and after preemptions.
    pub queue: i64,
    /// Number of preemptions, each with a checkpoint.
    pub checkpoints: u32,
    /// Nodes of the job's last run: their names, with the GPUs held on each, in the order in which Lucid's simulator
    /// lists them.
    pub nodes: Vec<(u32, GpuSet)>,
    /// The number by which the policy sorted the job; `None` if the policy gave the job no number.
    pub priority: Option<f64>,
    /// Remaining work at the job's end, in seconds at full speed. It is negative if the last step did more work than
    /// remained, which is possible only if the job once ran at a fractional speed. Otherwise, it is 0.
    pub remain: f64,
    /// Speed at the job's end; 1 is the speed of a job alone on its GPUs.
    pub speed: f64,
    /// Whether the job counted as running alone at its end.
    pub exclusive: bool,
    /// Second at which the job joined another job on that job's GPUs; 0 if it never joined another
    /// job.
    pub colocated: i64,
    /// Last second at which the job was set back to full speed; 0 if this never happened.
    pub delocated: i64,
}

/// An uninterrupted run of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct JobRun {
    /// Index of the job in [`Schedule::jobs`].
    pub job: usize,
    /// Second of the run's start.
    pub from: i64,
    /// Second of the job's end or preemption; the GPUs are free again in that second.
    pub until: i64,
    /// The GPUs that the job held throughout the run.
    pub placement: Placement,
    /// The job's successive speeds, each preceded by the second from which it applies. The first of these seconds is
    /// `from`. The work done from second `t` to `t + 1` equals the speed in force at `t`.
    pub speeds: Vec<(i64, f64)>,
    /// Whether the run ended with the job's end, not with a preemption.
    pub last: bool,
}

/// The time that a node spends in the virtual cluster. The node's slot is its index in
/// [`Schedule::nodes`]. Slots are numbered in the order in which nodes are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeLife {
    /// The node's name at the end of the simulation.
    pub name: u32,
    /// Second from which the node can run jobs; `i64::MIN` for nodes present at the start.
    pub from: i64,
    /// Second of the node's removal; `i64::MAX` for nodes present at the end.
    pub until: i64,
}

/// A change of a node between fully idle and in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idleness {
    /// Second of the change.
    pub time: i64,
    /// The node's name.
    pub node: u32,
    /// Whether all GPUs of the node are free after the change.
    pub idle: bool,
}

/// The end of one of two jobs that share GPUs, after which only the corrected simulation sets the other job back to
/// full speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Correction {
    /// Second of the end.
    pub time: i64,
    /// Index of the job that ended.
    pub ended: usize,
    /// Index of the partner, which continues to run alone.
    pub survivor: usize,
}

/// A state that does not change over one or more successive whole minutes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Samples {
    /// Second of the first minute; a multiple of 60.
    pub first: i64,
    /// Number of minutes.
    pub count: u32,
    /// The state at each of these minutes.
    pub state: State,
}

/// The state of a virtual cluster at the end of a second.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct State {
    /// Total number of GPUs of all nodes.
    pub total_gpus: u64,
    /// Number of GPUs that no job holds.
    pub idle_gpus: u64,
    /// Number of GPUs that waiting jobs request.
    pub pending_gpus: u64,
    /// Number of running jobs.
    pub running_jobs: u32,
    /// Number of waiting jobs.
    pub pending_jobs: u32,
    /// Number of waiting jobs that request fewer than 8 GPUs.
    pub pending_small_jobs: u32,
    /// Number of nodes.
    pub nodes: u32,
    /// Number of nodes with exactly one job.
    pub single_nodes: u32,
    /// Number of nodes with two or more jobs.
    pub shared_nodes: u32,
    /// GPU utilisation in percent, averaged over each node's GPUs and then over nodes.
    pub gpu_util: f64,
    /// GPU memory held, in MB, averaged over each node's GPUs and then over nodes.
    pub gmem: f64,
    /// GPU utilisation in percent, averaged over the busy GPUs of each node (those above 0 %), and
    /// then over the nodes that have busy GPUs.
    pub gpu_util_active: f64,
    /// GPU memory held, in MB, averaged over the GPUs of each node on which memory is held, and then over the nodes
    /// that have such GPUs.
    pub gmem_active: f64,
}
