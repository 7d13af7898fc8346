//! Lucid's profiler, which runs each job briefly on a few nodes before the job is scheduled. Jobs that are too large
//! are not profiled. Many jobs end during profiling.

use super::engine::{Failure, Setting, run};
use super::placer::Placer;
use super::policies::least_gpus::LeastGpus;
use super::scaling::{Fixed, Scaling, TimeAware};
use gleaner_domain::Observer;
use gleaner_domain::inputs::Forecast;
use gleaner_domain::jobs::{Job, Trace};
use gleaner_domain::results::policy_run::ProfilerRun;

/// The profiler's settings.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Profiler {
    /// Maximum number of seconds for which a job is profiled.
    pub limit: i64,
    /// Number of nodes on which jobs are profiled.
    pub nodes: u32,
    /// A job is profiled if its number of GPUs is at most this factor times [`Profiler::nodes`].
    pub factor: f64,
    /// Virtual clusters that lend nodes for the whole simulation: the index of each virtual cluster, and the number of
    /// nodes that it lends.
    pub lent: Vec<(usize, u32)>,
    /// Index of the virtual cluster that lends an additional node while many jobs are queued.
    pub elastic: Option<usize>,
}

impl Profiler {
    /// Maximum number of GPUs of a profiled job.
    pub fn most_gpus(&self) -> u32 {
        (f64::from(self.nodes) * self.factor) as u32
    }

    /// Number of the profiler's nodes that no virtual cluster lends.
    pub fn extra_nodes(&self) -> u32 {
        let lent = self.lent.iter().map(|&(_, nodes)| nodes);
        self.nodes.saturating_sub(lent.fold(0, u32::saturating_add))
    }

    /// Number of GPUs on the profiler's nodes that no virtual cluster lends.
    pub fn extra_gpus(&self, gpus_per_node: u32) -> u64 {
        u64::from(self.extra_nodes()) * u64::from(gpus_per_node)
    }

    /// Number of nodes that virtual cluster `vc` keeps if it has `nodes` nodes and lends some of them.
    pub fn kept(&self, vc: usize, nodes: u32) -> u32 {
        let lent = self.lent.iter().filter(|&&(lender, _)| lender == vc);
        lent.fold(nodes, |kept, &(_, nodes)| kept.saturating_sub(nodes))
    }
}

/// The forecast for an interval counts as low if it is at most this factor times
/// [`Profiler::most_gpus`] GPUs.
const QUIET_INTERVALS: f64 = 5.0;

/// Profiles the jobs of all virtual clusters, fewest GPUs first.
///
/// # Errors
/// Returns an error if a job requests more GPUs than the profiler's nodes have, or if the observer stops the
/// simulation.
pub fn profile(
    trace: &Trace,
    profiler: &Profiler,
    gpus_per_node: u32,
    start: i64,
    placer: &dyn Placer,
    forecast: Option<&dyn Forecast>,
    observer: &dyn Observer,
) -> Result<ProfilerRun, Failure> {
    let most = profiler.most_gpus();
    let profiled = |&job: &usize| trace.jobs[job].gpus <= most;
    let indices: Vec<usize> = (0..trace.jobs.len()).filter(profiled).collect();
    let jobs: Vec<&Job> = indices.iter().map(|&job| &trace.jobs[job]).collect();
    let work: Vec<i64> = jobs
        .iter()
        .map(|job| job.duration.min(profiler.limit))
        .collect();
    let entries: Vec<i64> = jobs.iter().map(|job| job.submit).collect();
    let setting = Setting {
        jobs: &jobs,
        entries: &entries,
        work: &work,
        queued: &vec![0; jobs.len()],
        nodes: profiler.nodes,
        gpus_per_node,
        start,
        notice: 0,
        placer,
        corrected: false,
    };
    let mut scaling: Box<dyn Scaling + '_> = match (forecast, profiler.elastic) {
        (Some(forecast), Some(_)) => Box::new(TimeAware {
            forecast,
            base: profiler.nodes,
            quiet_gpus: f64::from(most) * QUIET_INTERVALS,
        }),
        _ => Box::new(Fixed),
    };
    let mut policy = LeastGpus::default();
    let schedule = run(&setting, &mut policy, scaling.as_mut(), observer)?;
    Ok(ProfilerRun {
        jobs: indices,
        schedule,
        limit: profiler.limit,
        extra_gpus: profiler.extra_gpus(gpus_per_node),
    })
}
