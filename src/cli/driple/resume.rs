//! The starting points of training runs: random initial weights, a model's weights, or a checkpoint.

use std::path::Path;

use gleaner_driple::dataset::Dataset;
use gleaner_driple::dataset::file::Manifest;
use gleaner_driple::train::{Start, start};

use super::network::NetworkArgs;
use super::plan::PlanArgs;
use crate::cli::remark;
use gleaner_domain::error::{Error, Fault, Result};
use gleaner_inputs::driple::model;

/// A data set with its SHA-256.
pub struct Data {
    pub data: Dataset,
    pub manifest: Manifest,
    pub sha256: String,
}

/// The requested training run.
pub struct Asked<'a> {
    pub network: &'a NetworkArgs,
    pub plan: &'a PlanArgs,
}

impl Asked<'_> {
    /// A training run that starts from random initial weights.
    ///
    /// # Errors
    /// The network is invalid, or the data set has no jobs to train on.
    pub fn fresh(&self, data: &Data, path: &Path) -> Result<Start> {
        let plan = self.plan.plan(self.network);
        let architecture = self.network.architecture();
        architecture
            .check()
            .map_err(|error| Error::Usage(error.to_string()))?;
        let begun = start::fresh(architecture, &data.data, plan, self.plan.seed());
        let begun = begun.map_err(|error| Fault::told(path, error))?;
        Ok(of_data(begun, data))
    }

    /// A training run that starts from a model's weights.
    ///
    /// # Errors
    /// The file is not a model, the options describe another network, or the data set has no jobs to train on.
    pub fn from(&self, model: &Path, data: &Data, path: &Path) -> Result<Start> {
        let loaded = model::read(model)?;
        let card = &loaded.value.card;
        self.network
            .check(&card.architecture, &format!("--from {}", model.display()))?;
        if let (Some(known), Some(found)) = (&card.grouping, &data.manifest.grouping)
            && known.groups != found.groups
        {
            remark(&[format!(
                "{} was trained on graphs of {} groups, but the graphs of {} have {} groups",
                model.display(),
                known.groups,
                path.display(),
                found.groups
            )]);
        }
        let plan = self.plan.plan(self.network);
        let begun = start::from(&loaded.value, &data.data, plan);
        let mut begun = begun.map_err(|error| Fault::told(path, error))?;
        if let Some(origin) = &mut begun.card.provenance {
            let source = loaded.sources.first();
            origin.started_from = source.map(|source| source.sha256.to_string());
        }
        Ok(of_data(begun, data))
    }

    /// A training run that continues from a checkpoint.
    ///
    /// # Errors
    /// The file is not a checkpoint, the options contradict it, or it was trained on other data.
    pub fn resume(&self, checkpoint: &Path, data: &Data, path: &Path) -> Result<Start> {
        let start = model::checkpoint(checkpoint)?.value;
        let whose = format!("--resume {}", checkpoint.display());
        self.plan.check(self.network, &start.card, &whose)?;
        let known = start
            .card
            .provenance
            .as_ref()
            .map_or("", |origin| &origin.data);
        if known != data.sha256 {
            let found = format!("other data (SHA-256 {}…)", short(&data.sha256));
            let expected = format!(
                "the data on which {} was trained ({}…)",
                checkpoint.display(),
                short(known)
            );
            let fault = Fault::of(path, found, expected);
            return Err(fault
                .remedy("name the original data, or start again without --resume")
                .into());
        }
        Ok(start)
    }
}

fn short(sha256: &str) -> &str {
    sha256.get(..12).unwrap_or(sha256)
}

/// Copies the settings that a data set records to a training run on it.
fn of_data(mut start: Start, data: &Data) -> Start {
    let (card, manifest) = (&mut start.card, &data.manifest);
    card.grouping = manifest.grouping.clone().or(card.grouping.take());
    card.frequencies = manifest.frequencies.clone().or(card.frequencies.take());
    if let Some(origin) = &mut card.provenance {
        origin.data.clone_from(&data.sha256);
    }
    start
}
