//! The inputs that policies use in addition to the jobs: estimates, forecasts and packing. Files, constants and trained
//! models provide these inputs through the traits of this module.

use std::collections::BTreeMap;

use crate::jobs::{Job, Usage, Workload};

/// Estimated durations of jobs.
pub trait Estimates: Send + Sync {
    /// Estimated duration of a job in seconds; `None` if there is no estimate.
    fn seconds(&self, job: &Job) -> Option<f64>;

    /// Estimated duration of a job in seconds under the policy that has this name in the results;
    /// `None` if there is no estimate. The estimate depends on the policy if estimates are learnt
    /// from jobs that have already ended under the policy.
    fn seconds_under(&self, _policy: &str, job: &Job) -> Option<f64> {
        self.seconds(job)
    }
}

/// Forecast of the submissions to the whole cluster.
pub trait Forecast: Send + Sync {
    /// Expected number of GPU jobs per interval, averaged over the intervals that follow second
    /// `now`; `None` if `now` is beyond the forecast's end.
    fn gpu_jobs(&self, now: i64) -> Option<f64>;
    /// Expected number of GPUs that GPU jobs request per interval, averaged in the same way; `None` if `now` is beyond
    /// the forecast's end.
    fn gpus(&self, now: i64) -> Option<f64>;
    /// The first second after `now` at which the forecast may change; `None` if it no longer
    /// changes.
    fn next_change(&self, now: i64) -> Option<i64>;
}

/// Sharing scores of jobs, and the speeds of pairs of jobs on the same GPUs.
pub trait Packing: Send + Sync {
    /// Sharing score of a job: 0 (shares well), 1 or 2 (badly); `None` if unknown.
    fn score(&self, job: &Job) -> Option<u8>;
    /// Speeds and load of `first` and `second` on the same GPUs; `None` if unknown.
    fn pair(&self, first: &Job, second: &Job) -> Option<Pair>;
}

/// Lowest speed of a job that shares its GPUs. Slower jobs could run longer than schedules support.
pub const LEAST_SPEED: f64 = 0.01;

/// The speeds and the load of two jobs on the same GPUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Speeds of the first and of the second job, at least [`LEAST_SPEED`]; 1 is the speed of
    /// a job alone on its GPUs.
    pub speeds: (f64, f64),
    /// GPU utilisation of both jobs together, in percent.
    pub gpu_util: f64,
    /// GPU memory of both jobs together, in MB.
    pub gmem: f64,
}

/// Largest valid estimate, in seconds; the smallest valid estimate is its negative. The sum of an
/// estimate and any second of a schedule fits in a 64-bit integer.
pub const LONGEST_ESTIMATE: f64 = 1e12;

/// Estimates read from a table, by job id.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EstimateTable(pub BTreeMap<String, f64>);

/// The estimate, in seconds, that replaces a negative estimate, as in Lucid's simulator.
const NEGATIVE_ESTIMATE: f64 = 1000.0;

impl Estimates for EstimateTable {
    fn seconds(&self, job: &Job) -> Option<f64> {
        let seconds = *self.0.get(&job.id)?;
        Some(if seconds < 0.0 {
            NEGATIVE_ESTIMATE
        } else {
            seconds
        })
    }
}

/// A table of estimates for each policy, by the policy's name in the results.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EstimatesByPolicy(pub BTreeMap<&'static str, EstimateTable>);

impl Estimates for EstimatesByPolicy {
    fn seconds(&self, _: &Job) -> Option<f64> {
        None
    }

    fn seconds_under(&self, policy: &str, job: &Job) -> Option<f64> {
        self.0.get(policy)?.seconds(job)
    }
}

/// Perfect knowledge of durations: each job's estimate is its true duration.
#[derive(Debug, Clone, Copy)]
pub struct Oracle;

impl Estimates for Oracle {
    fn seconds(&self, job: &Job) -> Option<f64> {
        Some(job.duration as f64)
    }
}

/// The same estimate for every job, in seconds.
impl Estimates for f64 {
    fn seconds(&self, _: &Job) -> Option<f64> {
        Some(*self)
    }
}

/// A forecast that lists values by interval.
#[derive(Debug, Clone, PartialEq)]
pub struct ForecastTable {
    /// Seconds at which the intervals start, ascending.
    pub times: Vec<i64>,
    /// GPU jobs submitted in each interval.
    pub gpu_jobs: Vec<f64>,
    /// GPUs that the jobs in `gpu_jobs` request, by interval.
    pub gpus: Vec<f64>,
    /// Number of intervals over which the forecast is averaged, starting with the next interval.
    pub ahead: usize,
}

/// Number of intervals over which Lucid's simulator averages a forecast.
const LOOK_AHEAD: usize = 5;

impl Default for ForecastTable {
    fn default() -> Self {
        ForecastTable {
            times: Vec::new(),
            gpu_jobs: Vec::new(),
            gpus: Vec::new(),
            ahead: LOOK_AHEAD,
        }
    }
}

impl ForecastTable {
    fn mean(&self, values: &[f64], now: i64) -> Option<f64> {
        let first = self.times.partition_point(|&time| time <= now);
        let ahead = &values[first..values.len().min(first + self.ahead)];
        (!ahead.is_empty()).then(|| ahead.iter().sum::<f64>() / ahead.len() as f64)
    }
}

impl Forecast for ForecastTable {
    fn gpu_jobs(&self, now: i64) -> Option<f64> {
        self.mean(&self.gpu_jobs, now)
    }

    fn gpus(&self, now: i64) -> Option<f64> {
        self.mean(&self.gpus, now)
    }

    fn next_change(&self, now: i64) -> Option<i64> {
        let next = self.times.partition_point(|&time| time <= now);
        self.times.get(next).copied()
    }
}

/// A constant forecast, the same for jobs and for GPUs.
impl Forecast for f64 {
    fn gpu_jobs(&self, _: i64) -> Option<f64> {
        Some(*self)
    }

    fn gpus(&self, _: i64) -> Option<f64> {
        Some(*self)
    }

    fn next_change(&self, _: i64) -> Option<i64> {
        None
    }
}

/// The profile of a workload that runs alone on its GPUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Profile {
    /// Load of the workload on each of its GPUs.
    pub usage: Usage,
    /// Sharing score of the workload: 0, 1 or 2; `None` if it is not known yet.
    pub score: Option<u8>,
    /// Whether the profile was measured or predicted.
    pub source: ProfileSource,
}

/// The source of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProfileSource {
    /// The workload was run.
    #[default]
    Measured,
    /// The profile was predicted from the workload's computational graph.
    Predicted,
}

/// Packing based on measured profiles and pairs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PackingTable {
    /// Sharing scores by index of the workload in the trace; `None` if unknown.
    pub scores: Vec<Option<u8>>,
    /// Pairs by the indices of their workloads in the trace; each pair occurs in both orders.
    pub pairs: BTreeMap<(usize, usize), Pair>,
    /// For each workload of the trace, by its index: whether its model is in [`UNMEASURED`]. Pairs
    /// with such a workload are assumed to run at full speed and are not looked up in the table.
    pub unmeasured: Vec<bool>,
}

/// Models whose pairs were not measured. Jobs of some of these models and their partners barely slow
/// each other down. Jobs of the other models leave little memory for a partner. For pairs with any of
/// these models, Lucid's simulator assumes that both jobs run at speed 1.
pub const UNMEASURED: [&str; 4] = ["NeuMF", "ResNet50", "BERT", "Transformer"];

impl PackingTable {
    /// Combines measured profiles and pairs for the workloads of a trace.
    pub fn new(
        workloads: &[Workload],
        profiles: &BTreeMap<Workload, Profile>,
        measured: &BTreeMap<(Workload, Workload), Pair>,
    ) -> Self {
        let mut pairs = BTreeMap::new();
        for (a, first) in workloads.iter().enumerate() {
            for (b, second) in workloads.iter().enumerate() {
                let straight = measured.get(&(first.clone(), second.clone())).copied();
                let turned = || measured.get(&(second.clone(), first.clone())).map(turn);
                pairs.extend(straight.or_else(turned).map(|pair| ((a, b), pair)));
            }
        }
        let score = |workload| profiles.get(workload).and_then(|profile| profile.score);
        let unmeasured = |workload: &Workload| UNMEASURED.contains(&workload.model.as_str());
        PackingTable {
            scores: workloads.iter().map(score).collect(),
            pairs,
            unmeasured: workloads.iter().map(unmeasured).collect(),
        }
    }
}

fn turn(pair: &Pair) -> Pair {
    Pair {
        speeds: (pair.speeds.1, pair.speeds.0),
        ..*pair
    }
}

impl Packing for PackingTable {
    fn score(&self, job: &Job) -> Option<u8> {
        *self.scores.get(job.workload?)?
    }

    fn pair(&self, first: &Job, second: &Job) -> Option<Pair> {
        let (a, b) = (first.workload?, second.workload?);
        if self.unmeasured[a] || self.unmeasured[b] {
            return Some(Pair {
                speeds: (1.0, 1.0),
                // As in Lucid's simulator, this sum is capped at 1, although its terms are percentages.
                gpu_util: f64::min(1.0, first.usage.gpu_util + second.usage.gpu_util),
                gmem: first.usage.gmem + second.usage.gmem,
            });
        }
        self.pairs.get(&(a, b)).copied()
    }
}
