//! The fields of a plan file. Every field is optional, so that all faults can be reported together.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Spanned, Value};

use super::SamplerKind;

/// The content of a plan.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanFile {
    pub seconds: Option<Spanned<f64>>,
    pub warm_seconds: Option<Spanned<f64>>,
    pub idle_seconds: Option<Spanned<f64>>,
    pub repeats: Option<Spanned<u32>>,
    pub sampler: Option<Spanned<String>>,
    pub cores: Option<Spanned<String>>,
    pub devices: Option<Spanned<Vec<u32>>>,
    pub pairs: Option<Spanned<Value>>,
    pub processes: Option<Spanned<u32>>,
    pub inputs: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    pub workload: Vec<Spanned<WorkloadFile>>,
}

impl PlanFile {
    /// Replaces the sampler of the file if `sampler` is given.
    pub fn override_sampler(&mut self, sampler: Option<SamplerKind>) {
        if let Some(kind) = sampler {
            self.sampler = Some(Spanned::new(0..0, kind.to_string()));
        }
    }
}

/// A `[[workload]]` table of a plan.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkloadFile {
    pub name: Option<Spanned<String>>,
    pub model: Option<Spanned<String>>,
    pub dataset: Option<Spanned<String>>,
    pub command: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    pub directory: Option<Spanned<String>>,
    pub batch_sizes: Option<Spanned<Vec<u32>>>,
    pub amp: Option<Spanned<Vec<u8>>>,
}
