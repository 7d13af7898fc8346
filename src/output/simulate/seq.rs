//! The tables of the clusters' states by the minute.

use super::interval::Interval;
use crate::lucid::result::{PolicyRun, ProfilerRun, VcRun};
use crate::lucid::schedule::{Samples, State};
use crate::results::{Column, Runs, Spaced, Table};

/// A column of counts: its name, and what it says of a state.
type Count = (&'static str, fn(&State) -> u64);

/// The counts under the original's names.
pub(super) const COUNTS: [Count; 9] = [
    ("total_gpu_num", |s| s.total_gpus),
    ("idle_gpu_num", |s| s.idle_gpus),
    ("pending_gpu_num", |s| s.pending_gpus),
    ("running_gpujob_num", |s| s.running_jobs.into()),
    ("pending_gpujob_num", |s| s.pending_jobs.into()),
    ("pending_job_num_less_8", |s| s.pending_small_jobs.into()),
    ("total_node_num", |s| s.nodes.into()),
    ("consolidate_node_num", |s| s.single_nodes.into()),
    ("shared_node_num", |s| s.shared_nodes.into()),
];

/// A column of averages: its name, and what it says of a state.
type Average = (&'static str, fn(&State) -> f64);

/// The averages under the original's names.
pub(super) const AVERAGES: [Average; 4] = [
    ("sm_util", |s| s.gpu_util),
    ("gmem_util", |s| s.gmem),
    ("sm_util_active", |s| s.gpu_util_active),
    ("gmem_util_active", |s| s.gmem_active),
];

/// Name of the last column, which [`utilisation`] computes.
pub(super) const UTILISATION: &str = "gpu_utilization";

/// The states of all virtual clusters, one after the other, as the table `name`.
///
/// `vcs` are the names of the cluster's virtual clusters.
pub fn seq<'a>(name: &'a str, run: &PolicyRun, vcs: &[&'a str], interval: Interval) -> Table<'a> {
    let of_vc = |vc: &'_ VcRun| interval.rows(&vc.schedule.samples).collect::<Vec<_>>();
    let by_vc: Vec<Vec<Samples>> = run.vcs.iter().map(of_vc).collect();
    let samples = || by_vc.iter().flatten();
    let vc_runs = run.vcs.iter().zip(&by_vc).flat_map(|(vc, samples)| {
        let samples = samples.iter();
        samples.map(|s| (vc.vc as u32, s.count))
    });
    let vc = Column::RepeatedNames {
        names: vcs.to_vec(),
        indices: vc_runs.collect(),
    };
    let mut columns = vec![("vc", vc)];
    columns.extend(counts(samples, interval));
    columns
        .extend(AVERAGES.map(|(name, of)| (name, Column::RepeatedFloats(repeat(samples(), of)))));
    columns.push(utilisations(samples));
    Table { name, columns }
}

/// The states of the profiler's nodes; the original takes no averages there.
pub fn profiler_seq(profiler: &ProfilerRun, interval: Interval) -> Table<'static> {
    let shown: Vec<Samples> = interval.rows(&profiler.schedule.samples).collect();
    let samples = || shown.iter();
    let mut columns: Vec<_> = counts(samples, interval).collect();
    columns.push(utilisations(samples));
    Table {
        name: "profiler_seq",
        columns,
    }
}

fn counts<'s, 'a, I: Iterator<Item = &'s Samples>>(
    samples: impl Fn() -> I,
    interval: Interval,
) -> impl Iterator<Item = (&'static str, Column<'a>)> {
    let times = Spaced::new(interval.seconds(), samples().map(|s| (s.first, s.count)));
    let time = ("time", Column::Spaced(times));
    let counts = COUNTS.map(|(name, of)| (name, Column::RepeatedIntegers(repeat(samples(), of))));
    std::iter::once(time).chain(counts)
}

fn utilisations<'s, 'a, I: Iterator<Item = &'s Samples>>(
    samples: impl Fn() -> I,
) -> (&'static str, Column<'a>) {
    let runs = repeat(samples(), utilisation);
    (UTILISATION, Column::RepeatedFloats(runs))
}

fn repeat<'s, T: PartialEq>(
    samples: impl Iterator<Item = &'s Samples>,
    of: fn(&State) -> T,
) -> Runs<T> {
    samples.map(|s| (of(&s.state), s.count)).collect()
}

/// Share of GPUs that jobs hold, to three decimals, a tie to the even digit; not a number
/// where there are no GPUs.
pub(super) fn utilisation(state: &State) -> f64 {
    let (total, idle) = (state.total_gpus as f64, state.idle_gpus as f64);
    rounded((total - idle) / total)
}

/// To three decimals, a tie to the even digit.
pub(super) fn rounded(share: f64) -> f64 {
    (share * 1000.0).round_ties_even() / 1000.0
}
