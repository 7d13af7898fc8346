//! Plans list the workloads that are measured alone and the pairs of workloads that are measured
//! together.

mod check;
mod config;
mod file;
mod inputs;
mod pairs;
mod placeholders;
mod read;
mod shipped;

pub use config::Config;
pub(crate) use config::device_environment;
pub use read::{read, read_for};
pub use shipped::Shipped;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use serde::Serialize;

/// Maximum number of measurements of a plan.
pub const MAX_MEASUREMENTS: usize = 100_000;

/// Maximum number of configs of a plan. A config is a workload with one batch size and one precision.
pub const MAX_CONFIGS: usize = 2000;

/// The kind of sampler that takes the measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SamplerKind {
    /// Measures CPU cores and resident memory.
    Cpu,
    /// Measures NVIDIA GPUs through NVML.
    Nvml,
}

impl fmt::Display for SamplerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SamplerKind::Cpu => "cpu",
            SamplerKind::Nvml => "nvml",
        })
    }
}

/// A valid plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The folder of the plan. The directories of workloads are relative to this folder.
    pub folder: PathBuf,
    /// The workloads, in the order of the file.
    pub workloads: Vec<Workload>,
    /// Every workload with each of its batch sizes and precisions, in the order of the file.
    pub configs: Vec<Config>,
    /// The pairs to measure, as indices into `configs`. The lower index comes first.
    pub pairs: Vec<(usize, usize)>,
    /// Files that affect all workloads, in addition to the files that their commands name.
    pub inputs: Vec<PathBuf>,
    /// The settings of all measurements.
    pub settings: Settings,
    /// Maximum number of processes of a scaling curve.
    pub most_processes: u32,
}

/// The settings that all measurements of a plan share.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Settings {
    /// The sampler that takes the measurements.
    pub sampler: SamplerKind,
    /// The cores to which workloads are pinned, in ascending order.
    pub cores: Vec<usize>,
    /// Indices of the GPUs that workloads use, in NVML's order; empty if cores are measured.
    pub devices: Vec<u32>,
    /// Length of the window, in seconds.
    pub seconds: f64,
    /// Time within which a workload must report that it is warm, in seconds.
    pub warm_seconds: f64,
    /// Time for which the idle machine is measured, in seconds.
    #[serde(skip)]
    pub idle_seconds: f64,
    /// Number of times that each measurement is made.
    #[serde(skip)]
    pub repeats: u32,
}

impl Settings {
    /// Length of the window.
    pub fn window(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }

    /// Time within which a workload must report that it is warm.
    pub fn warm_limit(&self) -> Duration {
        Duration::from_secs_f64(self.warm_seconds)
    }

    /// Number of GPUs per workload, for the column `gpu_num`; 1 if cores are measured.
    pub fn gpu_num(&self) -> u32 {
        u32::try_from(self.devices.len()).map_or(u32::MAX, |count| count.max(1))
    }
}

/// A workload of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// The name of the workload, which is unique in the plan.
    pub name: String,
    /// The model that the workload trains.
    pub model: String,
    /// The data set that the workload trains on.
    pub dataset: String,
    /// The program and its arguments, with placeholders.
    pub command: Vec<String>,
    /// Environment variables that are set for the workload.
    pub environment: BTreeMap<String, String>,
    /// The working directory of the workload, relative to the folder of the plan.
    pub directory: PathBuf,
}
