//! Checks that every pair of a trace's workloads that could share GPUs has been measured.

use std::collections::BTreeMap;
use std::path::Path;

use gleaner_domain::error::{Fault, Result};
use gleaner_domain::inputs::PackingTable;
use gleaner_domain::{Known, Trace, Workload};
use gleaner_io::Gatherer;

use super::words::beside;

/// Checks that there are measured speeds for every pair of workloads whose jobs could share GPUs.
///
/// Two workloads could share GPUs if three conditions hold:
///
/// - Both have jobs with the same number of GPUs.
/// - Together, two such jobs need less than `memory_limit` MB of GPU memory.
/// - Both workloads have a score, and the two scores add up to at most 2. If `any_score` is set, the sum does not
///   matter.
///
/// Models that were not measured in pairs, such as BERT, are exempt. `path` is the path of the file that contains the
/// measured pairs, for messages about faults.
///
/// Returns the missing pairs in which at least one workload has a predicted profile. Only the simulation shows whether
/// the jobs of such workloads really share GPUs.
///
/// # Errors
/// A pair is missing, and neither of its workloads has a predicted profile. All such pairs are reported together.
pub fn check(
    path: &Path,
    trace: &Trace,
    packing: &PackingTable,
    memory_limit: f64,
    any_score: bool,
) -> Result<Vec<String>> {
    let least_memory = least_memory(trace);
    let is_predicted =
        |workload: usize| matches!(trace.known.get(workload), Some(Known::Predicted(_)));
    let mut predicted = Vec::new();
    let mut faults = Gatherer::default();
    for (first, memory) in least_memory.iter().enumerate() {
        for (second, other) in least_memory.iter().enumerate().skip(first) {
            let known = packing.unmeasured[first]
                || packing.unmeasured[second]
                || packing.pairs.contains_key(&(first, second));
            if !known
                && scores_allow(packing, any_score, first, second)
                && memory_allows(memory, other, memory_limit)
            {
                let workloads = (&trace.workloads[first], &trace.workloads[second]);
                if is_predicted(first) || is_predicted(second) {
                    predicted.push(beside(workloads.0, workloads.1));
                } else {
                    faults.add(missing(path, workloads))?;
                }
            }
        }
    }
    faults.finish(predicted)
}

/// The minimum memory of a workload's jobs in MB, by number of GPUs. The first value is the amount known to the policy,
/// and the second is the actual amount.
type LeastMemory = BTreeMap<u32, [f64; 2]>;

/// For each workload of the trace, by index, the minimum memory of its jobs.
fn least_memory(trace: &Trace) -> Vec<LeastMemory> {
    let mut least = vec![LeastMemory::new(); trace.workloads.len()];
    for job in &trace.jobs {
        if let Some(workload) = job.workload {
            let known = trace.known(job).unwrap_or(job.usage);
            let memory = least[workload].entry(job.gpus);
            let memory = memory.or_insert([f64::INFINITY; 2]);
            *memory = [memory[0].min(known.gmem), memory[1].min(job.usage.gmem)];
        }
    }
    least
}

/// Whether two jobs with the same number of GPUs, one of each workload, fit in memory together.
fn memory_allows(first: &LeastMemory, second: &LeastMemory, limit: f64) -> bool {
    let mut first = first.iter();
    first.any(|(gpus, memory)| {
        let other = second.get(gpus);
        other.is_some_and(|other| (0..2).all(|at| memory[at] + other[at] < limit))
    })
}

/// Whether the sharing scores of two workloads allow them to share GPUs.
fn scores_allow(packing: &PackingTable, any_score: bool, first: usize, second: usize) -> bool {
    match (packing.scores[first], packing.scores[second]) {
        (Some(first), Some(second)) => any_score || first + second <= 2,
        _ => false,
    }
}

fn missing(path: &Path, (first, second): (&Workload, &Workload)) -> Fault {
    let found = format!("no speeds for {}", beside(first, second));
    let fault = Fault::of(
        path,
        found,
        "a row for these two workloads, which may share GPUs",
    );
    fault.remedy("measure the pair and add it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::testing::{assert_has, fault, workload};
    use gleaner_domain::inputs::{Pair, Profile, ProfileSource};
    use gleaner_domain::{Job, Usage};

    /// Checks a trace with `jobs`. Each job is given as its model, number of GPUs and memory in MB. `scores` contains
    /// the scores of the workloads. Only the pair of A with itself and the pair of B with itself are measured.
    fn example(jobs: &[(&str, u32, f64)], scores: &[u8], any_score: bool) -> Result<Vec<String>> {
        let mut trace = Trace::default();
        for (index, (model, gpus, gmem)) in jobs.iter().enumerate() {
            trace.workloads.push(workload(model));
            trace.jobs.push(Job {
                id: index.to_string(),
                gpus: *gpus,
                workload: Some(index),
                usage: Usage {
                    gmem: *gmem,
                    ..Usage::default()
                },
                ..Job::default()
            });
        }
        let profile = |score| Profile {
            usage: Usage::default(),
            score: Some(score),
            source: ProfileSource::Measured,
        };
        let scores = scores.iter().map(|score| profile(*score));
        let profiles = trace.workloads.iter().cloned().zip(scores).collect();
        let pair = Pair {
            speeds: (1.0, 0.5),
            gpu_util: 1.0,
            gmem: 1.0,
        };
        let itself = |model| ((workload(model), workload(model)), pair);
        let measured = BTreeMap::from([itself("A"), itself("B")]);
        let packing = PackingTable::new(&trace.workloads, &profiles, &measured);
        check(Path::new("pairs.csv"), &trace, &packing, 100.0, any_score)
    }

    #[test]
    fn a_pair_that_could_share_must_be_measured() {
        let message = fault(example(&[("A", 1, 40.0), ("B", 1, 59.0)], &[1, 1], false));
        let found = "pairs.csv: found no speeds for A on CIFAR-10, batch size 64 beside \
                     B on CIFAR-10, batch size 64, expected a row for these two";
        assert_has(&message, &[found]);
    }

    #[test]
    fn pairs_that_never_share_may_be_missing() {
        // Two jobs never share GPUs if they need too much memory together, have different numbers of GPUs, or have
        // scores that are too high. Pairs with a model such as BERT, which was not measured in pairs, are not required.
        assert!(example(&[("A", 1, 40.0), ("B", 1, 60.0)], &[1, 1], false).is_ok());
        assert!(example(&[("A", 1, 40.0), ("B", 2, 40.0)], &[1, 1], false).is_ok());
        assert!(example(&[("A", 1, 1.0), ("B", 1, 1.0)], &[1, 2], false).is_ok());
        assert!(example(&[("A", 1, 1.0), ("B", 1, 1.0)], &[1, 2], true).is_err());
        assert!(example(&[("A", 1, 1.0), ("BERT", 1, 1.0)], &[1, 1], true).is_ok());
    }
}
