//! Predicts sharing scores with a trained tree.

use std::collections::BTreeMap;

use gleaner_learn::lucid::Usage as Profiled;
use gleaner_learn::lucid::packing::{
    Features, PackingModel, Pair as Measured, Profile as Example, SETTINGS, Shared,
    Workload as Named,
};
use gleaner_learn::tree::TreeError;

use gleaner_domain::inputs::{Pair, Profile};
use gleaner_domain::{Trace, Usage, Workload};

/// Training examples of the packing model: all profiles with a score, in the order of their
/// workloads.
pub fn packing_profiles(profiles: &BTreeMap<Workload, Profile>) -> Vec<Example> {
    let example = |(workload, profile): (&Workload, &Profile)| {
        Some(Example {
            workload: named(workload),
            usage: profiled(&profile.usage),
            score: profile.score?,
        })
    };
    profiles.iter().filter_map(example).collect()
}

/// Converts measured pairs to pairs of the packing model, in the order of their workloads.
pub fn packing_pairs(pairs: &BTreeMap<(Workload, Workload), Pair>) -> Vec<Measured> {
    let measured = |((first, second), pair): (&(Workload, Workload), &Pair)| Measured {
        workloads: [named(first), named(second)],
        speeds: [pair.speeds.0, pair.speeds.1],
    };
    pairs.iter().map(measured).collect()
}

fn named(workload: &Workload) -> Named {
    Named {
        model: workload.model.clone(),
        dataset: workload.dataset.clone(),
        batch_size: workload.batch_size,
        amp: workload.amp,
    }
}

fn profiled(usage: &Usage) -> Profiled {
    Profiled {
        gpu_util: usage.gpu_util,
        gmem_util: usage.gmem_util,
        gmem: usage.gmem,
    }
}

/// The scores that a model predicts from profiles alone, in the order of the workloads.
pub fn score_profiles(model: &PackingModel, profiles: &BTreeMap<Workload, Profile>) -> Vec<u8> {
    let score = |(workload, profile): (&Workload, &Profile)| {
        model.score(workload.amp, &profiled(&profile.usage), &UNSHARED)
    };
    profiles.iter().map(score).collect()
}

/// The features of a profile, in the order in which a model's tree expects them.
pub fn packing_row(model: &PackingModel, workload: &Workload, profile: &Profile) -> Vec<f64> {
    model.row(workload.amp, &profiled(&profile.usage), &UNSHARED)
}

/// Trains a model that uses only profiles.
///
/// # Errors
/// No profile has a score, or a profile has an infinite value.
pub fn learn_scores(profiles: &BTreeMap<Workload, Profile>) -> Result<PackingModel, TreeError> {
    let examples = packing_profiles(profiles);
    let unshared = vec![UNSHARED; examples.len()];
    PackingModel::fit(Features::Profile, &examples, &unshared, SETTINGS)
}

/// The scores that a model predicts from profiles alone for the workloads of a trace. The profile of a workload is the
/// load of its first job with a known load.
pub fn score_workloads(model: &PackingModel, trace: &Trace) -> Vec<Option<u8>> {
    let mut usages: Vec<Option<Usage>> = vec![None; trace.workloads.len()];
    for job in &trace.jobs {
        if let Some(workload) = job.workload {
            usages[workload] = usages[workload].or_else(|| trace.known(job));
        }
    }
    let score = |(workload, usage): (&Workload, &Option<Usage>)| {
        let usage = usage.as_ref()?;
        Some(model.score(workload.amp, &profiled(usage), &UNSHARED))
    };
    trace.workloads.iter().zip(&usages).map(score).collect()
}

/// The measurements of a workload without known pairs. Models that use only profiles ignore them.
const UNSHARED: Shared = Shared {
    speed: f64::NAN,
    pairs: 0,
};
