//! What policies know beside the jobs: estimates, forecasts, packing. Files, constants
//! and trained models are interchangeable behind these traits.

use std::collections::BTreeMap;

use crate::domain::jobs::{Job, Usage, Workload};

/// Estimated durations of jobs.
pub trait Estimates: Sync {
    /// Estimated duration of a job in seconds; `None` where there is no estimate.
    fn seconds(&self, job: &Job) -> Option<f64>;

    /// The same where it depends on the policy, by its name in the results: on what has ended
    /// under it by then.
    fn seconds_under(&self, _policy: &str, job: &Job) -> Option<f64> {
        self.seconds(job)
    }
}

/// Forecast of what will be submitted to the whole cluster.
pub trait Forecast: Sync {
    /// GPU jobs expected per interval, averaged over the next intervals after second
    /// `now`; `None` beyond the forecast's end.
    fn gpu_jobs(&self, now: i64) -> Option<f64>;
    /// GPUs that these jobs ask for, likewise.
    fn gpus(&self, now: i64) -> Option<f64>;
    /// The first second after `now` at which an answer may change; `None` for never.
    fn next_change(&self, now: i64) -> Option<i64>;
}

/// Which jobs go well together on the same GPUs.
pub trait Packing: Sync {
    /// Sharing score of a job: 0 (shares well), 1 or 2 (badly); `None` where unknown.
    fn score(&self, job: &Job) -> Option<u8>;
    /// What becomes of `first` and `second` on the same GPUs; `None` where unknown.
    fn pair(&self, first: &Job, second: &Job) -> Option<Pair>;
}

/// Least speed of a job that shares its GPUs: slower ones would run for longer than
/// schedules are made for.
pub const LEAST_SPEED: f64 = 0.01;

/// Two jobs on the same GPUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Speeds of the first and of the second job, at least [`LEAST_SPEED`]; 1 is the speed
    /// alone.
    pub speeds: (f64, f64),
    /// GPU utilisation of both together, in percent.
    pub gpu_util: f64,
    /// GPU memory of both together, in MB.
    pub gmem: f64,
}

/// Longest estimate in seconds, and the lowest below 0: sums of it and of any second of a
/// schedule are whole numbers of 64 bits.
pub const LONGEST_ESTIMATE: f64 = 1e12;

/// Estimates read from a table, by job id.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EstimateTable(pub BTreeMap<String, f64>);

/// What a job estimated at less than nothing counts as, in seconds (as in the original).
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

/// Estimates that each policy has for itself, by its name in the results.
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

/// Perfect knowledge of durations.
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

/// A forecast by intervals.
#[derive(Debug, Clone, PartialEq)]
pub struct ForecastTable {
    /// Ascending seconds at which the intervals start.
    pub times: Vec<i64>,
    /// GPU jobs submitted in each interval.
    pub gpu_jobs: Vec<f64>,
    /// GPUs they ask for.
    pub gpus: Vec<f64>,
    /// Intervals that it looks ahead.
    pub ahead: usize,
}

/// Intervals that the original looks ahead.
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

/// The same forecast for all time, of jobs and of GPUs.
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

/// A workload alone on its GPUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Profile {
    /// What it does to its GPUs.
    pub usage: Usage,
    /// Its sharing score: 0, 1 or 2; `None` where it has none yet.
    pub score: Option<u8>,
    /// How that is known.
    pub source: ProfileSource,
}

/// How a profile came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProfileSource {
    /// The workload was run.
    #[default]
    Measured,
    /// It was told from the workload's computational graph.
    Predicted,
}

/// Packing by measured profiles and pairs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PackingTable {
    /// Sharing score by workload of the trace, where its profile is known.
    pub scores: Vec<Option<u8>>,
    /// Pairs by workloads of the trace, in both orders.
    pub pairs: BTreeMap<(usize, usize), Pair>,
    /// By workload of the trace: whether a pair with it is not in the table because it
    /// barely slows down, as [`UNMEASURED`] says.
    pub unmeasured: Vec<bool>,
}

/// Models that slow their partner and themselves so little, or leave so little memory
/// to a partner, that the original counts speeds of 1 and 1 beside them.
pub const UNMEASURED: [&str; 4] = ["NeuMF", "ResNet50", "BERT", "Transformer"];

impl PackingTable {
    /// Puts measured profiles and pairs together for the workloads of a trace.
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
                // As the original writes it, though utilisations are percentages.
                gpu_util: f64::min(1.0, first.usage.gpu_util + second.usage.gpu_util),
                gmem: first.usage.gmem + second.usage.gmem,
            });
        }
        self.pairs.get(&(a, b)).copied()
    }
}
