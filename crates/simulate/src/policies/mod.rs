//! The policies, one per file. To add a policy, add a file here and a line in `policies!`.

/// Declares the modules of the policies, and lists the policies.
macro_rules! policies {
    ($($module:ident)*) => {
        $(mod $module;)*

        /// Every policy, in the order in which results are shown.
        pub const ALL: &[PolicyEntry<'static>] = &[$($module::ENTRY),*];
    };
}

policies! {
    fifo
    sjf
    srtf
    qssf
    tiresias
    lucid
    easy
}

pub(super) mod least_gpus;

use super::policy::Policy;
use gleaner_domain::inputs::{Forecast, Packing};
use gleaner_domain::jobs::{Job, Trace};
use gleaner_domain::results::simulate::Durations;

/// A policy that can be chosen by name. The entries in [`ALL`] are statics, so their `'p` is `'static`.
#[derive(Clone, Copy)]
pub struct PolicyEntry<'p> {
    /// Name on the command line and in file names.
    pub name: &'static str,
    /// One-line description.
    pub title: &'static str,
    /// Inputs that the policy requires.
    pub needs: Needs,
    /// The policy's knowledge of the durations of jobs before they end.
    pub durations: Durations,
    /// Seconds for which a job holds its GPUs after its work is done. Policies that count down the remaining work
    /// notice a job's end one second late.
    pub notice: i64,
    /// Whether the profiler runs the policy's jobs first, on nodes lent for this purpose.
    pub profiled: bool,
    /// Whether the policy is part of the published comparison, and thus of `all` on the command line.
    pub published: bool,
    /// Creates the policy for a virtual cluster.
    pub make: &'p Make<'p>,
}

/// Creates a policy for a virtual cluster.
pub type Make<'p> = dyn for<'a> Fn(&Context<'a>) -> Box<dyn Policy + 'a> + Sync + 'p;

/// Inputs that a policy requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// Only the jobs.
    Jobs,
    /// Estimated durations.
    Estimates,
    /// Estimated durations, profiles and measured pairs.
    Packing,
}

/// Inputs from which a policy is created.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The virtual cluster's jobs.
    pub jobs: &'a [&'a Job],
    /// The trace that contains these jobs.
    pub trace: &'a Trace,
    /// Estimated durations of these jobs in seconds; the true duration if there is no estimate.
    pub estimates: &'a [f64],
    /// Forecast of submissions. If `None`, sharing is always on.
    pub forecast: Option<&'a dyn Forecast>,
    /// Sharing scores and pairs of jobs. If `None`, no jobs share GPUs.
    pub packing: Option<&'a dyn Packing>,
    /// Second at which the simulation starts.
    pub start: i64,
    /// Parts of Lucid that are switched off.
    pub without: Without,
}

/// Parts of Lucid that can be switched off for ablation studies. `true` disables a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Without {
    /// The use of sharing scores and priorities in the search for a partner.
    pub packing: bool,
    /// The forecast. If this part is disabled, sharing stays off.
    pub throughput: bool,
    /// Estimated durations. If this part is disabled, all jobs have the same priority, and no jobs share GPUs.
    pub estimate: bool,
}

/// A job's priority as a sort key. Numbers that are equal in Python, such as -0 and 0, are equal here.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Priority(f64);

impl Priority {
    fn new(value: f64) -> Self {
        // Turns -0 into 0.
        Priority(value + 0.0)
    }
}

impl Eq for Priority {}

impl PartialOrd for Priority {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Priority {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}
