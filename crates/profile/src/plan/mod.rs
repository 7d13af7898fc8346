//! Plans: which workloads are measured, alone and beside which others.

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

/// Most measurements of a plan.
pub const MAX_MEASUREMENTS: usize = 100_000;

/// Most workloads of a plan, each with one batch size and one precision.
pub const MAX_CONFIGS: usize = 2000;

/// What is measured by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SamplerKind {
    /// Cores and resident memory.
    Cpu,
    /// NVIDIA GPUs through NVML.
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
    /// The folder of the plan, beside which workloads run.
    pub folder: PathBuf,
    /// The workloads, in the order of the file.
    pub workloads: Vec<Workload>,
    /// Every workload with each of its batch sizes and precisions, in the order of the file.
    pub configs: Vec<Config>,
    /// The pairs to measure, as indices of `configs`, the lower first.
    pub pairs: Vec<(usize, usize)>,
    /// Files that all workloads depend on, besides those that their commands name.
    pub inputs: Vec<PathBuf>,
    /// What all measurements share.
    pub settings: Settings,
    /// Most processes of a scaling curve.
    pub most_processes: u32,
}

/// What all measurements of a plan share.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Settings {
    /// What is measured by.
    pub sampler: SamplerKind,
    /// The cores to which workloads are pinned, ascending.
    pub cores: Vec<usize>,
    /// Indices of the GPUs that workloads use, in NVML's order; empty for cores.
    pub devices: Vec<u32>,
    /// Length of the window.
    pub seconds: f64,
    /// Time in which a workload must say that it is warm.
    pub warm_seconds: f64,
    /// Time for which the machine is measured idle.
    #[serde(skip)]
    pub idle_seconds: f64,
    /// How often each measurement is made.
    #[serde(skip)]
    pub repeats: u32,
}

impl Settings {
    /// Length of the window.
    pub fn window(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }

    /// Time in which a workload must say that it is warm.
    pub fn warm_limit(&self) -> Duration {
        Duration::from_secs_f64(self.warm_seconds)
    }

    /// GPUs that a workload runs on, as tables state it; 1 for cores.
    pub fn gpu_num(&self) -> u32 {
        u32::try_from(self.devices.len()).map_or(u32::MAX, |count| count.max(1))
    }
}

/// A workload of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// Its name, unique in the plan.
    pub name: String,
    /// What it trains.
    pub model: String,
    /// What it is trained on.
    pub dataset: String,
    /// The program and its arguments, with placeholders.
    pub command: Vec<String>,
    /// Variables of its environment.
    pub environment: BTreeMap<String, String>,
    /// Where it runs, beside the plan.
    pub directory: PathBuf,
}
