//! The policies, one a file. A new one is a file here and a line in `policies!`.

/// Declares the policies' modules, and lists them.
macro_rules! policies {
    ($($module:ident)*) => {
        $(mod $module;)*

        /// Every policy, in the order in which results are shown.
        pub const ALL: &[PolicyEntry] = &[$($module::ENTRY),*];
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

pub use lucid::GPU_MEMORY;

use super::inputs::{Forecast, Packing};
use super::policy::Policy;
use crate::domain::jobs::{Job, Trace};

/// A policy that can be asked for.
#[derive(Debug, Clone, Copy)]
pub struct PolicyEntry {
    /// Name on the command line and in file names.
    pub name: &'static str,
    /// What it does, in a line.
    pub title: &'static str,
    /// What it cannot do without.
    pub needs: Needs,
    /// Seconds for which a job still holds its GPUs once its work is done. Policies that
    /// count work down notice a job's end in the second after.
    pub notice: i64,
    /// Whether its jobs are profiled first, on nodes lent for that.
    pub profiled: bool,
    /// Whether it is in the published comparison, and so in `all`.
    pub published: bool,
    /// Makes one for a virtual cluster.
    pub make: for<'a> fn(&Context<'a>) -> Box<dyn Policy + 'a>,
}

/// Inputs that a policy cannot do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// The jobs alone.
    Jobs,
    /// Estimated durations.
    Estimates,
    /// Estimated durations, profiles and measured pairs.
    Packing,
}

/// What a policy is made from.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The virtual cluster's jobs.
    pub jobs: &'a [&'a Job],
    /// The trace that they are of.
    pub trace: &'a Trace,
    /// Their estimated durations in seconds; where there are none, the true ones.
    pub estimates: &'a [f64],
    /// What is expected to be submitted; without, sharing is always on.
    pub forecast: Option<&'a dyn Forecast>,
    /// Which jobs go well together; without, none share.
    pub packing: Option<&'a dyn Packing>,
    /// Second at which the simulation starts.
    pub start: i64,
    /// What Lucid does without.
    pub without: Without,
}

/// Parts that Lucid can do without, as in its ablation study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Without {
    /// Sharing scores and priorities when looking for a partner.
    pub packing: bool,
    /// The forecast: sharing stays off.
    pub throughput: bool,
    /// Estimated durations: all jobs have the same priority, and none share.
    pub estimate: bool,
}

/// A number to sort by; of what Python calls equal none is before the other.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Priority(f64);

impl Priority {
    fn new(value: f64) -> Self {
        // There is only one zero.
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
