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

use crate::ebm::{Ebm, Feature};

/// Whether a machine was trained on the features that are made here.
fn check_features(machine: &Ebm, names: &[impl AsRef<str>]) -> Result<(), String> {
    let found = machine.features();
    if found.len() != names.len() {
        let (found, needed) = (found.len(), names.len());
        return Err(format!(
            "it was trained on {found} features, where {needed} are needed"
        ));
    }
    let differs = |(feature, name): &(&Feature, &str)| feature.name != *name;
    let mut pairs = found
        .iter()
        .zip(names.iter().map(AsRef::as_ref))
        .enumerate();
    match pairs.find(|(_, pair)| differs(pair)) {
        Some((k, (feature, name))) => {
            let number = k + 1;
            Err(format!(
                "feature {number} is {}, where {name} is needed",
                feature.name
            ))
        }
        None => Ok(()),
    }
}

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
