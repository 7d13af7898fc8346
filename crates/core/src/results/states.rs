//! Columns of the tables that simulations write of jobs and of the states of clusters. Columns
//! that the original also has are named as there.

use std::sync::Arc;

use super::Field;

/// Seconds that a job waited.
pub const QUEUE: Field = Field::new(
    "queue",
    "s",
    "spent waiting: before the start, after preemptions, and for the profiler",
);

/// Completion time of a job.
pub const JCT: Field = Field::new("jct", "s", "job completion time: end less submission");

/// `<policy>_jobs`: one row per job, in the trace's order.
pub const JOBS: [Field; 11] = [
    Field::new("job_id", "", "its id; a number where all ids are"),
    Field::new("vc", "", "its virtual cluster"),
    Field::new("gpu_num", "GPUs", "asked for"),
    Field::new("submit_time", "s", "as in the trace"),
    Field::new("duration", "s", "as in the trace"),
    Field::new("start_time", "s", "first start"),
    Field::new("end_time", "s", "end"),
    QUEUE,
    JCT,
    Field::new("ckpt_times", "", "preemptions, each with a checkpoint"),
    Field::new(
        "nodes",
        "",
        "where it ran last: a list of nodes with the GPUs held on each, as `[{0: [0, 1]}, {3: [2]}]`",
    ),
];

/// A row of `<policy>_jobs`. Times are seconds of the trace's clock.
#[derive(Debug, Clone, PartialEq)]
pub struct JobRow {
    /// Id of the job.
    pub id: String,
    /// Name of the virtual cluster.
    pub vc: Arc<str>,
    /// Number of GPUs that the job asks for.
    pub gpus: u32,
    /// Time of the submission.
    pub submit: i64,
    /// Time of the first start.
    pub start: i64,
    /// Time of the end.
    pub end: i64,
    /// Seconds spent waiting.
    pub queue: i64,
    /// Seconds from the submission to the end.
    pub jct: i64,
    /// Number of preemptions.
    pub checkpoints: u32,
    /// Where the job ran last, as `[{0: [0, 1]}, {3: [2]}]`: GPUs by node.
    pub nodes: String,
}

/// `profiler_jobs`: every job of the trace, in its order.
pub const PROFILER_JOBS: [Field; 7] = [
    Field::new("job_id", "", "its id; a number where all ids are"),
    Field::new(
        "start_time",
        "s",
        "in the profiler; empty where it was not profiled",
    ),
    Field::new(
        "end_time",
        "s",
        "in the profiler; empty where it was not profiled",
    ),
    Field::new("profiled", "", "1 where it was, else 0"),
    Field::new("profqueue", "s", "waited for it"),
    Field::new(
        "toskip",
        "",
        "1 where it ended there and never came to its virtual cluster",
    ),
    Field::new("nodes", "", "as above, of the profiler's nodes"),
];

/// `profiler_scaling`: one row for every node borrowed or returned.
pub const PROFILER_SCALING: [Field; 2] = [
    Field::new("time", "s", "when"),
    Field::new(
        "scaling_num",
        "nodes",
        "1 where it was borrowed, -1 where it was returned",
    ),
];

/// Time of a state.
pub const TIME: Field = Field::new("time", "s", "the minute");

/// Number of GPUs.
pub const TOTAL_GPUS: Field = Field::new("total_gpu_num", "GPUs", "of its nodes");

/// Number of free GPUs.
pub const IDLE_GPUS: Field = Field::new("idle_gpu_num", "GPUs", "held by no job");

/// Number of waiting jobs.
pub const PENDING_JOBS: Field = Field::new("pending_gpujob_num", "jobs", "waiting");

/// `<policy>_seq`: one row per virtual cluster and minute.
pub const SEQ: [Field; 16] = [
    Field::new("vc", "", "virtual cluster"),
    TIME,
    TOTAL_GPUS,
    IDLE_GPUS,
    Field::new("pending_gpu_num", "GPUs", "that waiting jobs ask for"),
    Field::new("running_gpujob_num", "jobs", "running"),
    PENDING_JOBS,
    Field::new(
        "pending_job_num_less_8",
        "jobs",
        "waiting, of fewer than 8 GPUs",
    ),
    Field::new("total_node_num", "nodes", "that it has"),
    Field::new("consolidate_node_num", "nodes", "with one job"),
    Field::new("shared_node_num", "nodes", "with two or more jobs"),
    Field::new(
        "sm_util",
        "%",
        "compute used, averaged over each node's GPUs, then over nodes",
    ),
    Field::new(
        "gmem_util",
        "MB",
        "memory held, averaged likewise (the name is the original's)",
    ),
    Field::new(
        "sm_util_active",
        "%",
        "compute used, over GPUs and nodes in use alone",
    ),
    Field::new(
        "gmem_util_active",
        "MB",
        "memory held, over GPUs and nodes in use alone",
    ),
    Field::new(
        "gpu_utilization",
        "share",
        "of GPUs that jobs hold, to three decimals",
    ),
];
