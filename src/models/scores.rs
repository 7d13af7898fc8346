//! Sharing scores by a trained tree.

use std::collections::BTreeMap;

use gleaner_models::lucid::Usage as Profiled;
use gleaner_models::lucid::packing::{PackingModel, Profile as Example, Shared, Workload as Named};

use crate::domain::{Trace, Usage, Workload};
use crate::lucid::inputs::Profile;

/// Profiles as the packing model learns from them, in the order of their workloads.
pub fn packing_profiles(profiles: &BTreeMap<Workload, Profile>) -> Vec<Example> {
    let example = |(workload, profile): (&Workload, &Profile)| Example {
        workload: Named {
            model: workload.model.clone(),
            dataset: workload.dataset.clone(),
            batch_size: workload.batch_size,
            amp: workload.amp,
        },
        usage: profiled(&profile.usage),
        score: profile.score,
    };
    profiles.iter().map(example).collect()
}

fn profiled(usage: &Usage) -> Profiled {
    Profiled {
        gpu_util: usage.gpu_util,
        gmem_util: usage.gmem_util,
        gmem: usage.gmem,
    }
}

/// By workload of a trace, its score by a model that goes by profiles alone: by what its first
/// job does to its GPUs.
pub fn score_workloads(model: &PackingModel, trace: &Trace) -> Vec<Option<u8>> {
    let mut usages: Vec<Option<Usage>> = vec![None; trace.workloads.len()];
    for job in &trace.jobs {
        if let Some(workload) = job.workload {
            usages[workload].get_or_insert(job.usage);
        }
    }
    let score = |(workload, usage): (&Workload, &Option<Usage>)| {
        let usage = usage.as_ref()?;
        Some(model.score(workload.amp, &profiled(usage), &UNSHARED))
    };
    trace.workloads.iter().zip(&usages).map(score).collect()
}

/// Beside others nothing is known of it, nor asked.
const UNSHARED: Shared = Shared {
    speed: f64::NAN,
    pairs: 0,
};
