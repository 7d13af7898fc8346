//! The state tables: the states of the virtual clusters and of the profiler over time.

use super::interval::Interval;
use gleaner_domain::results::policy_run::{PolicyRun, ProfilerRun, VcRun};
use gleaner_domain::results::schedule::{Samples, State};
use gleaner_domain::results::states::SEQ;
use gleaner_domain::results::{Column, Field, RunLengths, Spaced, Table};

/// For each column of counts, the function that returns the column's value for a state.
pub(super) const COUNTS: [fn(&State) -> u64; 9] = [
    |s| s.total_gpus,
    |s| s.idle_gpus,
    |s| s.pending_gpus,
    |s| s.running_jobs.into(),
    |s| s.pending_jobs.into(),
    |s| s.pending_small_jobs.into(),
    |s| s.nodes.into(),
    |s| s.single_nodes.into(),
    |s| s.shared_nodes.into(),
];

/// For each column of averages, the function that returns the column's value for a state.
pub(super) const AVERAGES: [fn(&State) -> f64; 4] = [
    |s| s.gpu_util,
    |s| s.gmem,
    |s| s.gpu_util_active,
    |s| s.gmem_active,
];

/// The states of all virtual clusters, one cluster after another, as the table `name`.
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
    let averages = AVERAGES.map(|of| Column::RepeatedFloats(repeat(samples(), of)));
    let columns = std::iter::once(vc)
        .chain(counts(samples, interval))
        .chain(averages)
        .chain([utilisations(samples)]);
    Table::named(name, &SEQ, columns)
}

/// The states of the profiler's nodes. As in Lucid's simulator, the rows have no averages.
pub fn profiler_seq(profiler: &ProfilerRun, interval: Interval) -> Table<'static> {
    let shown: Vec<Samples> = interval.rows(&profiler.schedule.samples).collect();
    let samples = || shown.iter();
    let [_, fields @ .., _, _, _, _, last] = SEQ;
    let fields: Vec<Field> = fields.into_iter().chain([last]).collect();
    let columns = counts(samples, interval).chain([utilisations(samples)]);
    Table::named("profiler_seq", &fields, columns)
}

fn counts<'s, 'a, I: Iterator<Item = &'s Samples>>(
    samples: impl Fn() -> I,
    interval: Interval,
) -> impl Iterator<Item = Column<'a>> {
    let times = Spaced::new(interval.seconds(), samples().map(|s| (s.first, s.count)));
    let counts = COUNTS.map(|of| Column::RepeatedIntegers(repeat(samples(), of)));
    std::iter::once(Column::Spaced(times)).chain(counts)
}

fn utilisations<'s, 'a, I: Iterator<Item = &'s Samples>>(samples: impl Fn() -> I) -> Column<'a> {
    Column::RepeatedFloats(repeat(samples(), utilisation))
}

fn repeat<'s, T: PartialEq>(
    samples: impl Iterator<Item = &'s Samples>,
    of: fn(&State) -> T,
) -> RunLengths<T> {
    samples.map(|s| (of(&s.state), s.count)).collect()
}

/// Share of GPUs that jobs hold, rounded to three decimals with ties to even; NaN if there are no GPUs.
pub(super) fn utilisation(state: &State) -> f64 {
    let (total, idle) = (state.total_gpus as f64, state.idle_gpus as f64);
    rounded((total - idle) / total)
}

/// A number rounded to three decimals, with ties to even.
pub(super) fn rounded(share: f64) -> f64 {
    (share * 1000.0).round_ties_even() / 1000.0
}
