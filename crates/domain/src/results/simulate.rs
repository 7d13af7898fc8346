//! The results of `gleaner simulate`: the content of `summary.json`.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Direction, Field, Figure, Figures, Metric};

/// Maximum number of GPUs of a small job. Larger jobs are compared separately, as in Lucid's paper.
pub const SMALL_JOB_GPUS: u32 = 8;

/// Whether a policy with this name is a variant of Lucid, which uses a profiler and lets jobs share GPUs.
pub fn is_lucid(policy: &str) -> bool {
    policy.starts_with("lucid")
}

/// The content of `summary.json`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Figures by policy name, in the order in which the policies were requested.
    pub policies: ByName<PolicyFigures>,
    /// Seconds between successive rows of the state tables.
    pub seq_step_s: i64,
    /// First submission, in seconds on the trace's clock; `None` if there are no jobs.
    pub first_submission: Option<i64>,
    /// Last submission, in seconds on the trace's clock; `None` if there are no jobs. The cluster drains after this
    /// submission.
    pub last_submission: Option<i64>,
    /// Whether a job's speed depends on its placement. Always false: simulated jobs run equally fast on all nodes.
    #[serde(default)]
    pub placement_affects_speed: bool,
}

/// A policy's knowledge of the durations of jobs that have not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Durations {
    /// No knowledge.
    #[default]
    Unknown,
    /// The true durations, which no real scheduler knows.
    True,
    /// Estimates.
    Estimated,
    /// Depends on the policy: a user-defined policy can read the true durations.
    Own,
}

impl fmt::Display for Durations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Durations::Unknown => "unknown",
            Durations::True => "true",
            Durations::Estimated => "estimated",
            Durations::Own => "own",
        })
    }
}

/// The assumptions behind a policy's figures.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Assumptions {
    /// The policy's knowledge of the durations of jobs.
    #[serde(default)]
    pub durations: Durations,
    /// Source of the policy's estimates of durations; `None` if it uses no estimates.
    pub estimates: Option<String>,
    /// Spearman's rank correlation of the estimates with the true durations; `None` if the policy uses
    /// no estimates or all estimates are equal.
    pub estimate_rank_correlation: Option<f64>,
    /// Whether known faults of Lucid's simulator are corrected; `None` if the policy has no known faults.
    pub corrected: Option<bool>,
}

/// The figures of a policy on a trace.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PolicyFigures {
    /// Delays of all jobs; zeros if there are no jobs.
    #[serde(flatten)]
    pub all: Delays,
    /// Seconds from the first submission until the last job ends.
    pub makespan_s: i64,
    /// Number of GPUs available to the policy: the GPUs of the cluster, and the GPUs that the profiler adds.
    pub gpus: u64,
    /// Share of `gpus` that jobs held, averaged over the time from the first to the last submission. `None` if both
    /// submissions are in the same second.
    pub in_use_while_arriving: Option<f64>,
    /// First second on the trace's clock at which the number of GPUs in use is at least half of its average between the
    /// first and the last submission. `None` if no GPU is in use during that time.
    pub warm_up_until: Option<i64>,
    /// Share of `gpus` that jobs held in a virtual cluster or in the profiler, averaged over the makespan.
    pub gpu_utilisation: f64,
    /// Number of preemptions, each with a checkpoint.
    pub checkpoints: u64,
    /// Number of jobs that the profiler ran; `None` if there was no profiler.
    pub profiled_jobs: Option<u64>,
    /// Number of profiled jobs that started in their virtual cluster before their profiling ended; `None` if there was
    /// no profiler.
    pub early_starts: Option<u64>,
    /// The assumptions behind the figures.
    #[serde(flatten)]
    pub assumptions: Assumptions,
    /// Delays of jobs with up to [`SMALL_JOB_GPUS`] GPUs; `None` if there are no such jobs.
    pub small: Option<Delays>,
    /// Delays of jobs with more than [`SMALL_JOB_GPUS`] GPUs; `None` if there are no such jobs.
    pub large: Option<Delays>,
    /// Delays by virtual cluster, in the order of the cluster's file; `None` for a virtual cluster without jobs.
    pub vcs: ByName<Option<Delays>>,
    /// SHA-256 of the policy's source if the policy is a Python class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

summary! {
    /// Completion times and queuing times of jobs.
    #[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
    pub struct Delays {
        /// average job completion time: end minus submission
        avg_jct_s: f64 ["s"] least,
        /// average queuing time
        avg_queue_s: f64 ["s"] least,
        /// 99.9th percentile of the queuing time, interpolated linearly between ranks
        p999_queue_s: f64 ["s"] least,
        /// number of jobs
        jobs: u64 ["jobs"] shown,
    }
}

/// Values by name, in order; a map in JSON.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ByName<T>(pub Vec<(String, T)>);

impl PolicyFigures {
    /// The delays of a virtual cluster; `None` if it had no jobs or does not exist.
    pub fn vc(&self, name: &str) -> Option<Delays> {
        let mut vcs = self.vcs.0.iter();
        vcs.find(|(vc, _)| vc == name)?.1
    }
}

impl Figures for PolicyFigures {
    const FIELDS: &'static [Field] = &[
        Field::new(
            "makespan_s",
            "s",
            "time from the first submission until the last job ends",
        ),
        Field::new(
            "gpus",
            "GPUs",
            "number of GPUs available to the policy, including the GPUs that the profiler adds",
        ),
        Field::new(
            "in_use_while_arriving",
            "",
            "share of `gpus` that jobs held, averaged over the time from the first to the last submission; \
             null if both submissions are in the same second",
        ),
        Field::new(
            "warm_up_until",
            "s",
            "first second on the trace's clock at which the number of GPUs in use is at least half of its average \
             between the first and the last submission; null if no GPU is in use during that time",
        ),
        Field::new(
            "gpu_utilisation",
            "",
            "share of `gpus` that jobs held in a virtual cluster or in the profiler, averaged over the \
             makespan",
        ),
        Field::new(
            "checkpoints",
            "",
            "number of preemptions, each with a checkpoint",
        ),
        Field::new(
            "profiled_jobs",
            "jobs",
            "number of jobs that the profiler ran; null if there was no profiler",
        ),
        Field::new(
            "early_starts",
            "jobs",
            "number of profiled jobs that started in their virtual cluster before their profiling ended; \
             null if there was no profiler",
        ),
        Field::new(
            "durations",
            "",
            "the policy's knowledge of durations: `unknown`, `true` (which no real scheduler knows), \
             `estimated`, or `own` (a policy in Python, which can read the true durations)",
        ),
        Field::new(
            "estimates",
            "",
            "source of the policy's estimates of durations; null if it uses no estimates",
        ),
        Field::new(
            "estimate_rank_correlation",
            "",
            "Spearman's rank correlation of the estimates with the true durations, over all jobs: 1 for the same \
             order, about 0 for a random order; null if there are no estimates, or if all \
             estimates or all durations are equal",
        ),
        Field::new(
            "corrected",
            "",
            "whether known faults of Lucid's simulator are corrected (`--corrected`); null if the policy has no \
             known faults",
        ),
        Field::new(
            "small",
            "",
            "delays of jobs with up to 8 GPUs; null if there are no such jobs",
        ),
        Field::new(
            "large",
            "",
            "delays of jobs with more than 8 GPUs; null if there are no such jobs",
        ),
        Field::new(
            "vcs",
            "",
            "delays by virtual cluster; null for a virtual cluster without jobs",
        ),
    ];
    const METRICS: &'static [Metric<Self>] = &[
        metric::<u64>("jobs", None, |s| Some(s.all.jobs as f64)),
        metric::<f64>("avg_jct_s", LEAST, |s| Some(s.all.avg_jct_s)),
        metric::<f64>("avg_queue_s", LEAST, |s| Some(s.all.avg_queue_s)),
        metric::<f64>("p999_queue_s", LEAST, |s| Some(s.all.p999_queue_s)),
        metric::<i64>("makespan_s", LEAST, |s| Some(s.makespan_s as f64)),
        metric::<f64>("in_use_while_arriving", Some(Direction::Max), |s| {
            s.in_use_while_arriving
        }),
        metric::<f64>("gpu_utilisation", Some(Direction::Max), |s| {
            Some(s.gpu_utilisation)
        }),
        metric::<u64>("checkpoints", LEAST, |s| Some(s.checkpoints as f64)),
        metric::<u64>("small_jobs", None, |s| Some(s.small?.jobs as f64)),
        metric::<f64>("small_avg_jct_s", LEAST, |s| Some(s.small?.avg_jct_s)),
        metric::<f64>("small_avg_queue_s", LEAST, |s| Some(s.small?.avg_queue_s)),
        metric::<f64>("small_p999_queue_s", LEAST, |s| Some(s.small?.p999_queue_s)),
        metric::<u64>("large_jobs", None, |s| Some(s.large?.jobs as f64)),
        metric::<f64>("large_avg_jct_s", LEAST, |s| Some(s.large?.avg_jct_s)),
        metric::<f64>("large_avg_queue_s", LEAST, |s| Some(s.large?.avg_queue_s)),
        metric::<f64>("large_p999_queue_s", LEAST, |s| Some(s.large?.p999_queue_s)),
    ];
}

const LEAST: Option<Direction> = Some(Direction::Min);

const fn metric<T: Figure>(
    name: &'static str,
    best: Option<Direction>,
    of: fn(&PolicyFigures) -> Option<f64>,
) -> Metric<PolicyFigures> {
    Metric {
        name,
        is_whole: T::IS_WHOLE,
        best,
        of,
    }
}

impl<T: Serialize> Serialize for ByName<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ByName<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries(Vec::new()))
    }
}

/// The entries of a map, read one by one.
struct Entries<T>(Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
    type Value = ByName<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self::Value, A::Error> {
        while let Some(entry) = map.next_entry()? {
            self.0.push(entry);
        }
        Ok(ByName(self.0))
    }
}
