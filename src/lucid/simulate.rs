//! Simulates policies on a whole trace.

use rayon::prelude::*;

use super::engine::{Setting, Stuck, run};
use super::inputs::{Estimates, Forecast, Packing};
use super::placer::Placer;
use super::policies::{Context, PolicyEntry, Without};
use super::profiler::{Profiler, profile};
use super::result::{PolicyRun, ProfilerRun, VcRun};
use super::scaling::{Echo, Fixed, Scaling};
use crate::domain::cluster::Cluster;
use crate::domain::jobs::{Job, Trace};

/// What is simulated, and how.
#[derive(Clone, Copy)]
pub struct Simulation<'a> {
    /// The jobs.
    pub trace: &'a Trace,
    /// The cluster they were submitted to.
    pub cluster: &'a Cluster,
    /// Second at which the simulation starts.
    pub start: i64,
    /// Where jobs are placed.
    pub placer: &'a dyn Placer,
    /// Estimated durations; where there are none, the true ones stand in.
    pub estimates: Option<&'a dyn Estimates>,
    /// What is expected to be submitted.
    pub forecast: Option<&'a dyn Forecast>,
    /// Which jobs go well together.
    pub packing: Option<&'a dyn Packing>,
    /// The profiling stage of the policies that have one.
    pub profiler: Option<&'a Profiler>,
    /// What Lucid does without.
    pub without: Without,
}

/// A policy to simulate.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// Name in the results.
    pub name: &'static str,
    /// The policy.
    pub policy: PolicyEntry,
    /// Whether the survivor of a pair gets its full speed back: see
    /// [`Setting::corrected`].
    pub corrected: bool,
}

/// A simulation that does not end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{policy}, {vc}: {stuck}")]
pub struct SimulateError {
    /// Name of the policy.
    pub policy: &'static str,
    /// Name of the virtual cluster, or `profiler`.
    pub vc: String,
    /// What is wrong.
    pub stuck: Stuck,
}

/// Simulates all policies in all virtual clusters, in parallel; the results are in the
/// order of the requests and do not depend on the number of threads.
///
/// # Errors
/// Jobs that can never start.
pub fn simulate(
    simulation: &Simulation<'_>,
    requests: &[Request],
) -> Result<Vec<PolicyRun>, SimulateError> {
    let is_profiled = |request: &Request| request.policy.profiled;
    let profiled =
        match (
            simulation.profiler,
            requests.iter().find(|r| is_profiled(r)),
        ) {
            (Some(profiler), Some(request)) => Some(simulation.profile(profiler).map_err(
                |stuck| SimulateError {
                    policy: request.name,
                    vc: "profiler".into(),
                    stuck,
                },
            )?),
            _ => None,
        };
    let vcs = 0..simulation.cluster.vcs.len();
    let pairs: Vec<_> = requests
        .iter()
        .flat_map(|request| vcs.clone().map(move |vc| (request, vc)))
        .collect();
    let runs: Vec<VcRun> = pairs
        .into_par_iter()
        .map(|(request, vc)| {
            let profiler_run = profiled.as_ref().filter(|_| is_profiled(request));
            simulation.simulate_vc(request, vc, profiler_run)
        })
        .collect::<Result<_, _>>()?;
    let mut runs = runs.into_iter();
    let results = requests.iter().map(|request| PolicyRun {
        policy: request.name,
        vcs: runs.by_ref().take(vcs.len()).collect(),
        profiler: profiled.clone().filter(|_| is_profiled(request)),
    });
    Ok(results.collect())
}

impl Simulation<'_> {
    fn profile(&self, profiler: &Profiler) -> Result<ProfilerRun, Stuck> {
        let gpus = self.cluster.gpus_per_node;
        profile(
            self.trace,
            profiler,
            gpus,
            self.start,
            self.placer,
            self.forecast,
        )
    }

    fn simulate_vc(
        &self,
        request: &Request,
        vc: usize,
        profiler_run: Option<&ProfilerRun>,
    ) -> Result<VcRun, SimulateError> {
        let stage = Stage::of(self, vc, profiler_run);
        let jobs: Vec<&Job> = stage
            .jobs
            .iter()
            .map(|&job| &self.trace.jobs[job])
            .collect();
        let work: Vec<i64> = jobs.iter().map(|job| job.duration).collect();
        let estimate = |job: &&Job| self.estimate(job);
        let estimates: Vec<f64> = jobs.iter().map(estimate).collect();
        let context = Context {
            jobs: &jobs,
            estimates: &estimates,
            forecast: self.forecast,
            packing: self.packing,
            start: self.start,
            without: self.without,
        };
        let setting = Setting {
            jobs: &jobs,
            work: &work,
            queued: &stage.queued,
            nodes: stage.nodes,
            gpus_per_node: self.cluster.gpus_per_node,
            start: self.start,
            placer: self.placer,
            corrected: request.corrected,
        };
        let mut policy = (request.policy.make)(&context);
        let mut scaling: Box<dyn Scaling> = match stage.echo {
            Some(steps) => Box::new(Echo::new(steps)),
            None => Box::new(Fixed),
        };
        let schedule = run(&setting, policy.as_mut(), scaling.as_mut());
        let schedule = schedule.map_err(|stuck| SimulateError {
            policy: request.name,
            vc: self.cluster.vcs[vc].name.clone(),
            stuck,
        })?;
        Ok(VcRun {
            vc,
            jobs: stage.jobs,
            schedule,
        })
    }

    fn estimate(&self, job: &Job) -> f64 {
        let known = self.estimates.and_then(|estimates| estimates.seconds(job));
        known.unwrap_or(job.duration as f64)
    }
}

/// What the profiler leaves to a virtual cluster.
struct Stage<'a> {
    /// The jobs that have not ended yet, as indices of the trace.
    jobs: Vec<usize>,
    /// Seconds each has queued for the profiler.
    queued: Vec<i64>,
    nodes: u32,
    /// Steps of the profiler to echo.
    echo: Option<&'a [(i64, i32)]>,
}

impl<'a> Stage<'a> {
    fn of(simulation: &Simulation<'_>, vc: usize, profiler_run: Option<&'a ProfilerRun>) -> Self {
        let all = &simulation.trace.jobs;
        let mut jobs: Vec<usize> = (0..all.len()).filter(|&job| all[job].vc == vc).collect();
        let nodes = simulation.cluster.vcs[vc].nodes;
        let (Some(run), Some(profiler)) = (profiler_run, simulation.profiler) else {
            let queued = vec![0; jobs.len()];
            return Stage {
                jobs,
                queued,
                nodes,
                echo: None,
            };
        };
        jobs.retain(|&job| !run.ended(job, &all[job]));
        let echo = (profiler.elastic == Some(vc)).then_some(run.schedule.scaling.as_slice());
        Stage {
            queued: jobs.iter().map(|&job| run.queued(job)).collect(),
            jobs,
            nodes: profiler.kept(vc, nodes),
            echo,
        }
    }
}
