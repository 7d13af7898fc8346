//! Groups of runs that repeat the same settings, and their statistics.

use std::collections::BTreeMap;

use gleaner_domain::results::sweep::{Bootstrap, MIN_WINDOWS, Metric, Mode, Replication};
use gleaner_domain::results::sweep::{SEED, WINDOW};
use gleaner_domain::student::t95;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::Run;
use super::tables::setting;

/// Runs that differ only in their seed and their window.
#[derive(Debug)]
pub(super) struct Group {
    /// Indices of the runs.
    pub runs: Vec<usize>,
    /// Indices of the runs by window. If the log is not cut, all runs have window 0.
    by_window: BTreeMap<i64, Vec<usize>>,
    over: Replication,
}

/// The groups, in the order of their first runs.
pub(super) fn groups(mode: Mode, over: Replication, runs: &[Run]) -> Vec<Group> {
    let mut places: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let fields = mode.settings().iter();
        let fields = fields.filter(|field| ![SEED, WINDOW].contains(&field.name));
        let key = fields.map(|field| setting(field, &run.settings)).collect();
        let place = *places.entry(key).or_insert(groups.len());
        if place == groups.len() {
            let (runs, by_window) = (Vec::new(), BTreeMap::new());
            groups.push(Group {
                runs,
                by_window,
                over,
            });
        }
        let group = &mut groups[place];
        let window = run.settings.get(WINDOW).and_then(|window| window.as_i64());
        group.runs.push(index);
        let same = group.by_window.entry(window.unwrap_or(0)).or_default();
        same.push(index);
    }
    groups
}

impl Group {
    /// The number of windows; `None` if the log is not cut.
    pub fn windows(&self) -> Option<usize> {
        (self.over != Replication::Seeds).then_some(self.by_window.len())
    }

    /// The number of seeds; the largest number if it differs between windows.
    pub fn seeds(&self) -> usize {
        self.by_window.values().map(Vec::len).max().unwrap_or(0)
    }

    /// Statistics of a metric; `None` if a run has no value.
    pub fn spread(&self, runs: &[Run], metric: &Metric) -> Option<Spread> {
        let value = |run: &usize| metric.of(&runs[*run].outcome.summary);
        let values: Option<Vec<f64>> = match self.over {
            Replication::Seeds => self.runs.iter().map(value).collect(),
            Replication::Windows | Replication::Blocks(_) => {
                let of_window = |members: &Vec<usize>| {
                    let sum: Option<f64> = members.iter().map(value).sum();
                    Some(sum? / members.len() as f64)
                };
                self.by_window.values().map(of_window).collect()
            }
        };
        Some(Spread::of(&values?, self.over))
    }
}

/// Statistics of a metric over the repetitions of a group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spread {
    pub mean: f64,
    pub deviation: Option<f64>,
    pub error: Option<f64>,
    /// The ends of the 95 % interval.
    pub ends: Option<[f64; 2]>,
}

impl Spread {
    /// The mean, the sample standard deviation, the standard error and the 95 % interval of at least one value.
    fn of(values: &[f64], over: Replication) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        let deviation = (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt());
        let error = deviation.map(|deviation| deviation / count.sqrt());
        let is_short = over == Replication::Windows && values.len() < MIN_WINDOWS;
        let ends = match over {
            Replication::Blocks(bootstrap) => resampled(values, bootstrap),
            Replication::Seeds | Replication::Windows => error.filter(|_| !is_short).map(|error| {
                let reach = error * t95(values.len() - 1);
                [mean - reach, mean + reach]
            }),
        };
        Spread {
            mean,
            deviation,
            error,
            ends,
        }
    }
}

/// The 2.5th and the 97.5th percentile of the means of resamples. `None` for a single value.
fn resampled(values: &[f64], bootstrap: Bootstrap) -> Option<[f64; 2]> {
    if values.len() < 2 {
        return None;
    }
    let mut random = ChaCha8Rng::seed_from_u64(bootstrap.seed);
    let mut means = Vec::with_capacity(bootstrap.resamples);
    for _ in 0..bootstrap.resamples {
        let mut sum = 0.0;
        for _ in 0..values.len() {
            sum += values[random.random_range(0..values.len())];
        }
        means.push(sum / values.len() as f64);
    }
    means.sort_by(f64::total_cmp);
    // The percentile lies between two neighbours: with 1,000 means, 2.5 % is at index 24.975, close to the 26th mean.
    let at = |share: f64| {
        let place = share * (means.len() - 1) as f64;
        let below = place as usize;
        let above = (below + 1).min(means.len() - 1);
        means[below] * (1.0 - (place - below as f64)) + means[above] * (place - below as f64)
    };
    Some([at(0.025), at(0.975)])
}
