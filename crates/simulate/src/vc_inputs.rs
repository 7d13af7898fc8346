//! Jobs and nodes of a virtual cluster after the profiling stage.

use super::simulate::Simulation;
use gleaner_domain::jobs::Job;
use gleaner_domain::results::policy_run::ProfilerRun;

/// The state of a virtual cluster when a policy takes control of it.
pub(super) struct VcInputs<'a> {
    /// The jobs that have not ended yet, as indices into the trace, in the order in which they join
    /// the queue.
    pub indices: Vec<usize>,
    /// The jobs themselves, in the same order.
    pub jobs: Vec<&'a Job>,
    /// Second at which each job joins the queue.
    pub entries: Vec<i64>,
    /// Seconds that each job has waited for the profiler.
    pub queued: Vec<i64>,
    /// Number of nodes, without those that are lent to the profiler for the whole simulation.
    pub nodes: u32,
    /// The loans to the profiler and their returns. Each entry consists of the second and the number of nodes, which is
    /// positive for a loan and negative for a return. `None` if this virtual cluster lends no nodes during the
    /// simulation.
    pub echo: Option<Vec<(i64, i32)>>,
}

impl<'a> VcInputs<'a> {
    /// Builds the inputs of a virtual cluster after the profiling stage, if there was one. If `corrected`, a job joins
    /// the queue when its profiling ends. Otherwise it joins at its submission, as in the original simulator.
    pub fn new(
        simulation: &Simulation<'a>,
        vc: usize,
        profiler_run: Option<&ProfilerRun>,
        corrected: bool,
    ) -> Self {
        let all = &simulation.trace.jobs;
        let ended = |job: usize| profiler_run.is_some_and(|run| run.ended(job, &all[job]));
        let here = |&job: &usize| all[job].vc == vc && !ended(job);
        let released = |job: usize| profiler_run.filter(|_| corrected)?.end(job);
        let entry = |&job: &usize| released(job).unwrap_or(all[job].submit);
        let mut indices: Vec<usize> = (0..all.len()).filter(here).collect();
        // The sort is stable: jobs that enter in the same second stay in the order of the trace.
        indices.sort_by_key(entry);
        let nodes = simulation.cluster.vcs[vc].nodes;
        let profiler = simulation.profiler.filter(|_| profiler_run.is_some());
        let lends = profiler.is_some_and(|profiler| profiler.elastic == Some(vc));
        let queued = |&job: &usize| profiler_run.map_or(0, |run| run.queued(job));
        VcInputs {
            jobs: indices.iter().map(|&job| &all[job]).collect(),
            entries: indices.iter().map(entry).collect(),
            queued: indices.iter().map(queued).collect(),
            indices,
            nodes: profiler.map_or(nodes, |profiler| profiler.kept(vc, nodes)),
            echo: profiler_run.filter(|_| lends).map(ProfilerRun::loans),
        }
    }
}
