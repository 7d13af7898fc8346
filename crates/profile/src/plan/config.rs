//! Configs: workloads with one batch size and one precision each.

use std::fmt;
use std::path::{Path, PathBuf};

use super::placeholders::fill;
use super::{Plan, Settings, Workload};

/// A workload with one batch size and one precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Config {
    /// Index of the workload in the plan.
    pub workload: usize,
    /// Number of samples in a batch.
    pub batch_size: u32,
    /// Whether the workload trains with mixed precision.
    pub amp: bool,
}

/// A config with the name of its workload, displayed as NAME:BATCH:AMP.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a>(&'a str, Config);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Named(name, config) = self;
        write!(f, "{name}:{}:{}", config.batch_size, u32::from(config.amp))
    }
}

impl Plan {
    /// The workload of a config.
    pub fn workload(&self, config: Config) -> &Workload {
        &self.workloads[config.workload]
    }

    /// The config with its name, which is displayed as NAME:BATCH:AMP.
    pub fn named(&self, config: Config) -> Named<'_> {
        Named(&self.workload(config).name, config)
    }

    /// The command of a config with the given number of processes.
    pub fn command(&self, config: Config, processes: u32) -> Vec<String> {
        let words = self.workload(config).command.iter();
        words
            .map(|word| fill(word, config, &self.settings, processes))
            .collect()
    }

    /// The directory in which a config runs.
    pub fn directory(&self, config: Config) -> PathBuf {
        let directory = self.folder.join(&self.workload(config).directory);
        if directory.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            directory
        }
    }

    /// The files, besides the plan, that affect the measurements of a config: the files that its command names, and the
    /// inputs that all workloads share.
    pub fn files(&self, config: Config) -> Vec<PathBuf> {
        let directory = self.directory(config);
        let words = self.command(config, 1);
        let files = words.iter().enumerate().filter_map(|(place, word)| {
            // If the first word contains no slash, it is a program in PATH, not a file of the workload.
            let is_found = place > 0 || Path::new(word).components().count() > 1;
            Some(directory.join(word)).filter(|path| is_found && path.is_file())
        });
        files.chain(self.inputs.iter().cloned()).collect()
    }
}

/// The environment variables that select GPUs and number them in NVML's order.
pub(crate) fn device_environment(settings: &Settings) -> Vec<(&'static str, String)> {
    if settings.devices.is_empty() {
        return Vec::new();
    }
    vec![
        ("CUDA_DEVICE_ORDER", "PCI_BUS_ID".to_owned()),
        ("CUDA_VISIBLE_DEVICES", listed(&settings.devices)),
    ]
}

/// Joins numbers with commas.
pub(super) fn listed<N: ToString>(numbers: &[N]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    numbers.join(",")
}
