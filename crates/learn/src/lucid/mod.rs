//! The models that Lucid uses to schedule GPU clusters (Hu et al., 2023), and their features. The
//! features are computed from plain values and stored in a [`Table`](crate::Table).
//!
//! - [`history`]: the run time of a job, estimated from the user's earlier jobs.
//! - [`packing`]: a score that predicts how well a job shares its GPUs.
//! - [`throughput`]: forecasts of the number of GPU jobs that are submitted in each ten-minute
//!   interval.
//! - [`workload`]: the run time of a job, estimated from its user, its submission time and its
//!   requests.

pub mod history;
pub mod packing;
pub mod throughput;
pub mod workload;

use crate::ebm::{Ebm, Feature};

/// Checks that a machine was trained on the features with these names, in this order.
fn check_features(machine: &Ebm, names: &[impl AsRef<str>]) -> Result<(), String> {
    let found = machine.features();
    if found.len() != names.len() {
        let (found, needed) = (found.len(), names.len());
        return Err(format!(
            "it was trained on {found} features, expected {needed}"
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
                "feature {number} is {}, expected {name}",
                feature.name
            ))
        }
        None => Ok(()),
    }
}

/// A workload's GPU usage when it runs alone. Unknown values are NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usage {
    /// Utilisation of the GPU's compute units, in percent.
    pub gpu_util: f64,
    /// Utilisation of the GPU's memory bandwidth, in percent.
    pub gmem_util: f64,
    /// GPU memory held, in MB.
    pub gmem: f64,
}
