//! What Lucid schedules GPU clusters by (Hu et al., 2023): features of its models, from plain
//! values to [`Table`](crate::Table)s.
//!
//! - [`history`]: how long a job will run, by the user's earlier ones.
//! - [`packing`]: whether a job shares its GPUs well.
//! - [`throughput`]: how many GPU jobs will be submitted in the next ten minutes.
//! - [`workload`]: how long a job will run, by who submits it, when, and what it is.

pub mod history;
pub mod packing;
pub mod throughput;
pub mod workload;

/// What a workload does to a GPU that it has alone; NaN where it is not known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usage {
    /// Compute used, in percent.
    pub gpu_util: f64,
    /// Memory bandwidth used, in percent.
    pub gmem_util: f64,
    /// Memory held, in MB.
    pub gmem: f64,
}
