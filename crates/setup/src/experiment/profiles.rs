//! The profiles that policies use. Profiles are measured or predicted.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

use super::files::ExperimentFiles;
use super::inputs::Reader;
use gleaner_domain::error::Result;
use gleaner_domain::inputs::{Profile, ProfileSource};
use gleaner_domain::{Known, Trace, Workload};
use gleaner_inputs::jobs;

/// Profiles by workload.
type Table = BTreeMap<Workload, Profile>;

/// The profiles of an experiment.
pub struct Profiles {
    /// The profiles that policies use.
    pub table: Table,
    /// The experiment's own profiles, if predicted profiles replace them.
    measured: Option<Table>,
}

impl Profiles {
    /// Reads profiles from a file.
    ///
    /// # Errors
    /// The file cannot be read or has faults, which are reported together.
    pub fn read(
        reader: &mut Reader<'_>,
        path: &Path,
        experiment: &ExperimentFiles,
    ) -> Result<Self> {
        let table = reader.take(jobs::profiles::read(path)?);
        let own = experiment.measured.as_deref();
        let own = own.filter(|own| are_predicted(&table) && *own != path && own.is_file());
        let measured = own.map(jobs::profiles::read).transpose()?;
        Ok(Profiles {
            table,
            measured: measured.map(|measured| reader.take(measured)),
        })
    }

    /// Whether any profiles are predicted. If so, some workloads can lack a profile.
    pub fn are_predicted(&self) -> bool {
        are_predicted(&self.table)
    }

    /// The profiles from which sharing scores can be learnt.
    pub fn scored(&self) -> &Table {
        self.measured.as_ref().unwrap_or(&self.table)
    }

    /// The GPU usage of each workload, from its measured profile if it has one, and otherwise from its predicted
    /// profile. Simulations use these values if the trace contains no usage.
    pub fn usages(&self) -> Table {
        let mut usages = self.table.clone();
        usages.extend(self.measured.clone().into_iter().flatten());
        usages
    }

    /// For each workload of a trace, whether its profile is measured, predicted or missing. Empty if all profiles are
    /// measured.
    pub fn known(&self, trace: &Trace) -> Vec<Known> {
        if !self.are_predicted() {
            return Vec::new();
        }
        let known = |workload| match self.table.get(workload) {
            None => Known::Nothing,
            Some(profile) if is_predicted(profile) => Known::Predicted(profile.usage),
            Some(_) => Known::Measured,
        };
        trace.workloads.iter().map(known).collect()
    }

    /// Notes about workloads whose jobs never share GPUs, because they lack a profile or a sharing score in `scores`.
    pub fn remarks(&self, trace: &Trace, scores: &[Option<u8>]) -> Vec<String> {
        let workloads = trace.workloads.iter().zip(scores);
        let without = |profiled: bool| {
            let without = workloads.clone().filter(|(workload, score)| {
                score.is_none() && self.table.contains_key(workload) == profiled
            });
            without.map(|(workload, _)| workload).collect::<Vec<_>>()
        };
        let mut remarks = Vec::new();
        let (unprofiled, unscored) = (without(false), without(true));
        if !unprofiled.is_empty() {
            let listed = listed(&unprofiled);
            remarks.push(format!(
                "no profile of {listed}: jobs of these workloads share no GPUs"
            ));
        }
        if !unscored.is_empty() {
            let listed = listed(&unscored);
            remarks.push(format!(
                "no sharing score of {listed}: jobs of these workloads share no GPUs; \
                 gleaner predict packing.json --profiles adds scores, and --models predicts them"
            ));
        }
        remarks
    }
}

fn are_predicted(table: &Table) -> bool {
    table.values().any(is_predicted)
}

fn is_predicted(profile: &Profile) -> bool {
    profile.source == ProfileSource::Predicted
}

/// Maximum number of items that a message names.
const NAMED: usize = 3;

/// Lists the first few items, followed by the number of remaining items.
pub fn listed(items: &[impl Display]) -> String {
    let named: Vec<String> = items.iter().take(NAMED).map(ToString::to_string).collect();
    let named = named.join("; ");
    match items.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
