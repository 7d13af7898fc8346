//! Schedules: the record of a simulation.

use crate::cluster::GpuSet;

/// Where a job runs: slots of nodes (see [`NodeLife`]), and the GPUs that it holds on each.
pub type Placement = Vec<(u32, GpuSet)>;

/// The schedule of one virtual cluster.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schedule {
    /// The outcome of each job, in the order of the jobs given.
    pub jobs: Vec<JobOutcome>,
    /// Every uninterrupted run of a job on its GPUs, by ascending start.
    pub runs: Vec<JobRun>,
    /// Every node that was ever in the virtual cluster, by slot.
    pub nodes: Vec<NodeLife>,
    /// The state at every whole minute, from the start of the simulation to its end.
    pub samples: Vec<Samples>,
    /// When nodes became fully idle or not, by ascending time.
    pub idleness: Vec<Idleness>,
    /// GPU-seconds during which a GPU was held by at least one job.
    pub busy_gpu_seconds: i64,
    /// Ends of a job that shared its GPUs, after which its partner got its full speed back
    /// although the original leaves it slow: see the simulator.
    pub corrections: Vec<Correction>,
    /// Nodes added (positive) or removed (negative) during the simulation: second and number.
    pub scaling: Vec<(i64, i32)>,
}

/// The outcome of a job. Times are seconds of the trace's clock.
#[derive(Debug, Clone, PartialEq)]
pub struct JobOutcome {
    /// Second of the first start.
    pub start: i64,
    /// Second of the end.
    pub end: i64,
    /// Seconds spent waiting, the profiler's queue and all re-queuings included.
    pub queue: i64,
    /// How often it was preempted, each with a checkpoint.
    pub checkpoints: u32,
    /// Where it ran last: node names with the GPUs held on each, in the original's order.
    pub nodes: Vec<(u32, GpuSet)>,
    /// The number that the policy sorted it by; `None` if the policy gave it none.
    pub priority: Option<f64>,
    /// Work left at its end, in seconds at full speed: 0, or less if the last step at a
    /// fractional speed did more work than was left.
    pub remain: f64,
    /// Speed at its end; 1 is the speed of a job alone on its GPUs.
    pub speed: f64,
    /// Whether it counted as running alone at its end.
    pub exclusive: bool,
    /// Second at which it joined another job on its GPUs; 0 if it never did.
    pub colocated: i64,
    /// Last second at which it was set back to full speed; 0 if it never was.
    pub delocated: i64,
}

/// An uninterrupted run of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct JobRun {
    /// Index of the job in [`Schedule::jobs`].
    pub job: usize,
    /// Second of its start.
    pub from: i64,
    /// Second of its end or preemption; the GPUs are free again in that second.
    pub until: i64,
    /// The GPUs it held throughout.
    pub placement: Placement,
    /// Seconds at which its speed changed, with the new speed; the first is `from`.
    /// Work done from second `t` to `t + 1` is the speed in force at `t`.
    pub speeds: Vec<(i64, f64)>,
    /// Whether it ended with the job's end, not with a preemption.
    pub last: bool,
}

/// The time that a node spends in the virtual cluster. Its slot is its index in
/// [`Schedule::nodes`]. Slots are numbered in the order in which nodes are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeLife {
    /// The name it had at the end.
    pub name: u32,
    /// Second from which it takes jobs; `i64::MIN` for the nodes there at the start.
    pub from: i64,
    /// Second of its removal; `i64::MAX` for the nodes there at the end.
    pub until: i64,
}

/// A node that became fully idle, or stopped being so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idleness {
    /// Second of the change.
    pub time: i64,
    /// The node's name.
    pub node: u32,
    /// Whether all its GPUs are free from then on.
    pub idle: bool,
}

/// The end of one of two jobs that share GPUs, after which the corrected simulation sets
/// the other job back to full speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Correction {
    /// Second of the end.
    pub time: i64,
    /// Index of the job that ended.
    pub ended: usize,
    /// Index of its partner, which runs on alone.
    pub survivor: usize,
}

/// The same state at one or more successive whole minutes.
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
    /// GPUs of all nodes.
    pub total_gpus: u64,
    /// GPUs that no job holds.
    pub idle_gpus: u64,
    /// GPUs that waiting jobs request.
    pub pending_gpus: u64,
    /// Number of running jobs.
    pub running_jobs: u32,
    /// Number of waiting jobs.
    pub pending_jobs: u32,
    /// Number of waiting jobs of fewer than 8 GPUs.
    pub pending_small_jobs: u32,
    /// Number of nodes.
    pub nodes: u32,
    /// Nodes with exactly one job.
    pub single_nodes: u32,
    /// Nodes with two jobs or more.
    pub shared_nodes: u32,
    /// GPU utilisation in percent, averaged over each node's GPUs and then over nodes.
    pub gpu_util: f64,
    /// GPU memory held in MB, averaged in the same way.
    pub gmem: f64,
    /// GPU utilisation in percent, averaged over the GPUs of each node where it is above 0, then
    /// over the nodes that have such GPUs.
    pub gpu_util_active: f64,
    /// GPU memory held in MB, averaged in the same way.
    pub gmem_active: f64,
}
