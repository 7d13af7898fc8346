//! Columns of the tables that simulations write about jobs and the states of clusters. Columns that Lucid's simulator
//! also writes keep their names.

use std::sync::Arc;

use super::Field;

record! {
    /// A row of `<policy>_jobs`: a job. Rows are in the trace's order. Times are in seconds on the trace's clock.
    #[derive(Debug, Clone, PartialEq)]
    pub struct JobRow {
        /// job id, as a number if all ids are numbers
        id: String as Ids = "job_id" [""],
        /// virtual cluster of the job
        vc: Arc<str> = "vc" [""],
        /// number of requested GPUs
        gpus: u32 = "gpu_num" ["GPUs"],
        /// time of submission, from the trace
        submit: i64 = "submit_time" ["s"],
        /// duration, from the trace
        duration: i64 = "duration" ["s"],
        /// time at which the job first started
        start: i64 = "start_time" ["s"],
        /// time at which the job ended
        end: i64 = "end_time" ["s"],
        /// waiting time: before the start, after preemptions, and in the profiler's queue
        queue: i64 = "queue" ["s"],
        /// job completion time: end minus submission
        jct: i64 = "jct" ["s"],
        /// number of preemptions, each with a checkpoint
        checkpoints: u32 = "ckpt_times" [""],
        /// nodes of the job's last run, with the GPUs held on each, such as `[{0: [0, 1]}, {3: [2]}]`
        nodes: String = "nodes" [""],
    }
}

record! {
    /// A row of `<policy>_runs`: a period during which a job ran on the same GPUs at the same
    /// speed. Rows are sorted by virtual cluster, in the order of the cluster's file, and then by the start of the run.
    /// Times are in seconds on the trace's clock.
    #[derive(Debug, Clone, PartialEq)]
    pub struct RunRow {
        /// job id, as a number if all ids are numbers
        id: String as Ids = "job_id" [""],
        /// virtual cluster of the job
        vc: Arc<str> = "vc" [""],
        /// run number, from 0: the number of times that the job was preempted before this run
        run: u32 = "run" [""],
        /// start of the period
        from: i64 = "from_time" ["s"],
        /// end of the period: the second at which the GPUs become free or the speed changes
        to: i64 = "to_time" ["s"],
        /// work done per second; 1 for a job that has never shared its GPUs
        speed: f64 = "speed" ["s/s"],
        /// nodes with the GPUs held on each, in the format of `<policy>_jobs`; nodes are numbered in the order in which
        /// they joined the virtual cluster
        nodes: String = "nodes" [""],
    }
}

record! {
    /// A row of `profiler_jobs`: a job. Rows are in the trace's order.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ProfilerJobRow {
        /// job id, as a number if all ids are numbers
        id: String as Ids = "job_id" [""],
        /// start of the job's profiling; empty if the job was not profiled
        start: Option<i64> = "start_time" ["s"],
        /// end of the job's profiling; empty if the job was not profiled
        end: Option<i64> = "end_time" ["s"],
        /// 1 if the job was profiled, 0 otherwise
        is_profiled: bool = "profiled" [""],
        /// time for which the job waited for the profiler
        queue: i64 = "profqueue" ["s"],
        /// 1 if the job ended in the profiler and never joined its virtual cluster, 0 otherwise
        has_ended: bool = "toskip" [""],
        /// nodes of the profiler with the GPUs held on each, in the format of `<policy>_jobs`
        nodes: String = "nodes" [""],
    }
}

record! {
    /// A row of `profiler_scaling`: a borrowed or returned node.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ScalingRow {
        /// time of the change
        time: i64 = "time" ["s"],
        /// 1 for a borrowed node, -1 for a returned node
        change: i64 = "scaling_num" ["nodes"],
    }
}

/// Time of a state.
pub const TIME: Field = Field::new(
    "time",
    "s",
    "time to which the row applies (a whole minute)",
);

/// Number of GPUs.
pub const TOTAL_GPUS: Field = Field::new("total_gpu_num", "GPUs", "number of GPUs");

/// Number of free GPUs.
pub const IDLE_GPUS: Field = Field::new("idle_gpu_num", "GPUs", "number of GPUs that no job holds");

/// Number of waiting jobs.
pub const PENDING_JOBS: Field = Field::new("pending_gpujob_num", "jobs", "number of waiting jobs");

/// The columns of `<policy>_seq`, which has one row per virtual cluster and minute, or per longer interval in very long
/// runs.
pub const SEQ: [Field; 16] = [
    Field::new("vc", "", "virtual cluster"),
    TIME,
    TOTAL_GPUS,
    IDLE_GPUS,
    Field::new(
        "pending_gpu_num",
        "GPUs",
        "number of GPUs that waiting jobs request",
    ),
    Field::new("running_gpujob_num", "jobs", "number of running jobs"),
    PENDING_JOBS,
    Field::new(
        "pending_job_num_less_8",
        "jobs",
        "number of waiting jobs that request fewer than 8 GPUs",
    ),
    Field::new("total_node_num", "nodes", "number of nodes"),
    Field::new(
        "consolidate_node_num",
        "nodes",
        "number of nodes with one job",
    ),
    Field::new(
        "shared_node_num",
        "nodes",
        "number of nodes with two or more jobs",
    ),
    Field::new(
        "sm_util",
        "%",
        "compute utilisation, averaged over each node's GPUs, then over nodes",
    ),
    Field::new(
        "gmem_util",
        "MB",
        "memory held, averaged like `sm_util` (the column's name is from Lucid's simulator)",
    ),
    Field::new(
        "sm_util_active",
        "%",
        "compute utilisation, averaged only over GPUs and nodes in use",
    ),
    Field::new(
        "gmem_util_active",
        "MB",
        "memory held, averaged only over GPUs and nodes in use",
    ),
    Field::new(
        "gpu_utilization",
        "share",
        "share of the GPUs that jobs hold, rounded to three decimals",
    ),
];
