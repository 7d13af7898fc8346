//! Computes the figures by which policies are compared.

use super::in_use::InUse;
use gleaner_domain::results::policy_run::{Finished, PolicyRun, ProfilerRun};
use gleaner_domain::results::simulate::{
    Assumptions, ByName, Delays, PolicyFigures, SMALL_JOB_GPUS,
};
use gleaner_domain::{Cluster, Trace};

/// Computes the figures of a run, except for `assumptions`, which the caller fills in. `cluster` is
/// the whole cluster, including the nodes lent to the profiler.
pub fn summarise(trace: &Trace, cluster: &Cluster, run: &PolicyRun) -> PolicyFigures {
    let finished = run.finished();
    let of = |kept: &dyn Fn(&Finished<'_>) -> bool| {
        delays(trace, finished.iter().filter(|job| kept(job)))
    };
    let is_small = |job: &Finished<'_>| trace.jobs[job.job].gpus <= SMALL_JOB_GPUS;
    let makespan_s = makespan(trace, &finished);
    let vcs = cluster.vcs.iter().enumerate().map(|(index, vc)| {
        let delays = of(&|job| trace.jobs[job.job].vc == index);
        (vc.name.clone(), delays)
    });
    let gpus = run.gpus(cluster);
    let arriving = arriving(trace, run, gpus);
    PolicyFigures {
        all: of(&|_| true).unwrap_or_default(),
        makespan_s,
        gpus,
        in_use_while_arriving: arriving.map(|arriving| arriving.share),
        warm_up_until: arriving.and_then(|arriving| arriving.warm_up_until),
        gpu_utilisation: utilisation(cluster, run, makespan_s),
        checkpoints: finished
            .iter()
            .map(|job| u64::from(job.outcome.checkpoints))
            .sum(),
        profiled_jobs: run.profiler.as_ref().map(|run| run.jobs.len() as u64),
        early_starts: run.profiler.as_ref().map(|of| early_starts(run, of)),
        assumptions: Assumptions::default(),
        small: of(&is_small),
        large: of(&|job| !is_small(job)),
        vcs: ByName(vcs.collect()),
        sha256: None,
    }
}

fn makespan(trace: &Trace, finished: &[Finished<'_>]) -> i64 {
    let first = finished.iter().map(|job| trace.jobs[job.job].submit).min();
    let last = finished.iter().map(|job| job.outcome.end).max();
    first.zip(last).map_or(0, |(first, last)| last - first)
}

fn utilisation(cluster: &Cluster, run: &PolicyRun, makespan: i64) -> f64 {
    let vcs = run.vcs.iter().map(|vc| &vc.schedule);
    let profiler = run.profiler.iter().map(|profiler| &profiler.schedule);
    let busy: f64 = vcs
        .chain(profiler)
        .map(|schedule| schedule.busy_gpu_seconds as f64)
        .sum();
    let offered = run.gpus(cluster) as f64 * makespan as f64;
    if offered > 0.0 { busy / offered } else { 0.0 }
}

/// GPU use between the first and the last submission.
#[derive(Debug, Clone, Copy)]
struct Arriving {
    share: f64,
    warm_up_until: Option<i64>,
}

/// Computes the GPU use while jobs arrive; `None` if there are no jobs, or if all are submitted in the same second.
fn arriving(trace: &Trace, run: &PolicyRun, gpus: u64) -> Option<Arriving> {
    let (first, last) = trace.submissions()?;
    let offered = gpus as f64 * (last - first) as f64;
    if offered <= 0.0 {
        return None;
    }
    let vcs = run.vcs.iter().map(|vc| &vc.schedule);
    let profiler = run.profiler.iter().map(|profiler| &profiler.schedule);
    let in_use = InUse::of(vcs.chain(profiler));
    let busy = in_use.gpu_seconds(first, last) as f64;
    let half = busy / (last - first) as f64 / 2.0;
    Some(Arriving {
        share: busy / offered,
        warm_up_until: in_use.first_at_least(half).filter(|_| busy > 0.0),
    })
}

/// Number of profiled jobs that started in their virtual cluster before their profiling ended.
fn early_starts(run: &PolicyRun, profiler: &ProfilerRun) -> u64 {
    let outcomes = run.vcs.iter().flat_map(|vc| vc.outcomes());
    let early = outcomes.filter(|(job, outcome)| {
        let profiled_until = profiler.end(*job);
        profiled_until.is_some_and(|end| outcome.start < end)
    });
    early.count() as u64
}

fn delays<'a>(trace: &Trace, jobs: impl Iterator<Item = &'a Finished<'a>>) -> Option<Delays> {
    let (mut jct, mut queues) = (0.0, Vec::new());
    for job in jobs {
        jct += (job.outcome.end - trace.jobs[job.job].submit) as f64;
        queues.push(job.outcome.queue);
    }
    let p999_queue_s = percentile(&mut queues, 0.999)?;
    // Sums of whole seconds are exact in any order.
    let queue: f64 = queues.iter().map(|&seconds| seconds as f64).sum();
    let jobs = queues.len();
    Some(Delays {
        avg_jct_s: jct / jobs as f64,
        avg_queue_s: queue / jobs as f64,
        p999_queue_s,
        jobs: jobs as u64,
    })
}

/// Returns the percentile at `share` (0 to 1), interpolated linearly between ranks, like numpy's default method; `None`
/// if there are no values. Reorders `values`.
fn percentile(values: &mut [i64], share: f64) -> Option<f64> {
    let rank = values.len().checked_sub(1)? as f64 * share;
    let (_, &mut below, above) = values.select_nth_unstable(rank as usize);
    let next = above.iter().min().copied().unwrap_or(below);
    Some(below as f64 + (next - below) as f64 * rank.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    // Derived by formula: the value at rank 0.999 · (n − 1), interpolated linearly between neighbours.
    #[test]
    fn percentiles_interpolate() {
        assert_eq!(percentile(&mut [], 0.999), None);
        assert_eq!(percentile(&mut [7], 0.999), Some(7.0));
        assert_eq!(percentile(&mut [30, 10], 0.5), Some(20.0));
        let mut thousand: Vec<i64> = (0..1001).rev().collect();
        assert_eq!(percentile(&mut thousand, 0.999), Some(999.0));
        let queues = percentile(&mut [0, 0, 100, 1000], 0.999);
        assert!((queues.unwrap() - (100.0 + 900.0 * 0.997)).abs() < 1e-9);
    }
}
