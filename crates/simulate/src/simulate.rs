//! Simulates policies on a whole trace.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::checker::{self, Terms};
use super::engine::{Failure, Setting, run};
use super::placer::Placer;
use super::policies::{Context, Needs, PolicyEntry, Without};
use super::policy::checkpoint_overhead;
use super::profiler::{Profiler, profile};
use super::scaling::{Fixed, Lender, Scaling};
use super::vc_inputs::VcInputs;
use gleaner_domain::Observer;
use gleaner_domain::cluster::Cluster;
use gleaner_domain::inputs::{Estimates, Forecast, LONGEST_ESTIMATE, Packing};
use gleaner_domain::jobs::{Job, Trace};
use gleaner_domain::results::policy_run::{PolicyRun, ProfilerRun, VcRun};
use gleaner_domain::results::schedule::Schedule;

/// The inputs and settings of a simulation.
#[derive(Clone, Copy)]
pub struct Simulation<'a> {
    /// The jobs to simulate.
    pub trace: &'a Trace,
    /// The cluster to which the jobs were submitted.
    pub cluster: &'a Cluster,
    /// Second at which the simulation starts.
    pub start: i64,
    /// The placer, which chooses the GPUs of jobs.
    pub placer: &'a dyn Placer,
    /// Estimated durations. For a job without an estimate, the true duration is used.
    pub estimates: Option<&'a dyn Estimates>,
    /// Forecast of submissions. If `None`, Lucid's sharing is always on and its profiler borrows
    /// no node.
    pub forecast: Option<&'a dyn Forecast>,
    /// Sharing scores and pairs of jobs. If `None`, no jobs share GPUs.
    pub packing: Option<&'a dyn Packing>,
    /// Settings of the profiling stage, for policies that profile jobs; `None` for no profiling.
    pub profiler: Option<&'a Profiler>,
    /// Parts of Lucid that are switched off.
    pub without: Without,
    /// Whether the [`checker`] validates every schedule.
    pub check: bool,
}

impl Simulation<'_> {
    /// Simulates only `first`, which contains the first jobs of the trace, with `estimates`. Returns the index and the
    /// end time of each job that ends. The list is empty if the simulation is stopped. Progress is not reported,
    /// because this simulation is part of a longer simulation.
    ///
    /// # Errors
    /// A job can never start, or a decision cannot be carried out; see [`simulate()`].
    pub fn ends(
        &self,
        first: &Trace,
        estimates: &dyn Estimates,
        request: &Request,
        observer: &dyn Observer,
    ) -> Result<Vec<(usize, i64)>, SimulateError> {
        let until = Simulation {
            trace: first,
            estimates: Some(estimates),
            check: false,
            ..*self
        };
        let runs = simulate(&until, std::slice::from_ref(request), observer.stop())?;
        let finished = runs.iter().flat_map(PolicyRun::finished);
        Ok(finished.map(|job| (job.job, job.outcome.end)).collect())
    }
}

/// A policy to simulate.
#[derive(Clone, Copy)]
pub struct Request<'p> {
    /// Name of the policy in the results.
    pub name: &'static str,
    /// The policy, with its requirements and its constructor.
    pub policy: PolicyEntry<'p>,
    /// Whether two faults of the original simulator are corrected. If so, a job that shares its GPUs returns to full
    /// speed when its partner ends (see [`Setting::corrected`]). In addition, a profiled job then joins the queue of
    /// its virtual cluster when its profiling ends, not at its submission.
    pub corrected: bool,
}

/// A simulation that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{policy}, {vc}: {problem}")]
pub struct SimulateError {
    /// Name of the policy.
    pub policy: &'static str,
    /// Name of the virtual cluster, or `profiler`.
    pub vc: String,
    /// The reason for the failure.
    pub problem: Problem,
}

/// The reasons why a simulation fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The simulation does not finish.
    #[error(transparent)]
    Failed(#[from] Failure),
    /// The checker rejects the schedule. This is a bug in Gleaner.
    #[error("the schedule is invalid: {first} (violations in total: {count})")]
    Unsound {
        /// The first violation.
        first: String,
        /// Number of violations.
        count: usize,
    },
}

/// Simulates all policies in all virtual clusters, in parallel. The results are in the order of the requests and do not
/// depend on the number of threads. If the simulation is stopped, the results omit the policies that have not been
/// simulated to the end. The progress that the observer receives is the number of simulated virtual clusters, summed
/// over all policies.
///
/// # Errors
/// Returns an error if a job can never start, if a decision cannot be carried out, or if [`Simulation::check`] is set
/// and a schedule is invalid.
pub fn simulate(
    simulation: &Simulation<'_>,
    requests: &[Request<'_>],
    observer: &dyn Observer,
) -> Result<Vec<PolicyRun>, SimulateError> {
    let stages = Stages::begin(simulation, requests, observer)?;
    let runs = stages.all().into_par_iter().map(|stage| stages.run(stage));
    stages.gather(runs.collect())
}

/// Like [`simulate()`], but simulates one virtual cluster after another, on the caller's thread. Use this for policies
/// that must run on that thread.
///
/// # Errors
/// A job can never start, a decision cannot be carried out, or a schedule is invalid; see [`simulate()`].
pub fn simulate_in_turn(
    simulation: &Simulation<'_>,
    requests: &[Request<'_>],
    observer: &dyn Observer,
) -> Result<Vec<PolicyRun>, SimulateError> {
    let stages = Stages::begin(simulation, requests, observer)?;
    let runs = stages.all().into_iter().map(|stage| stages.run(stage));
    stages.gather(runs.collect())
}

/// The simulations of all virtual clusters under all policies.
struct Stages<'a> {
    simulation: &'a Simulation<'a>,
    requests: &'a [Request<'a>],
    observer: &'a dyn Observer,
    profiled: Option<ProfilerRun>,
    done: AtomicUsize,
}

/// The result of simulating a virtual cluster under a policy; `None` if the simulation was stopped.
type Stage = Result<Option<VcRun>, SimulateError>;

impl<'a> Stages<'a> {
    fn begin(
        simulation: &'a Simulation<'a>,
        requests: &'a [Request<'a>],
        observer: &'a dyn Observer,
    ) -> Result<Self, SimulateError> {
        let profiled = match simulation.profile_for(requests, observer) {
            // After a stop, no virtual cluster is simulated, so the result of the profiling stage is not needed.
            Err(_) if observer.is_stopped() => None,
            profiled => profiled?,
        };
        Ok(Stages {
            simulation,
            requests,
            observer,
            profiled,
            done: AtomicUsize::new(0),
        })
    }

    /// Number of virtual clusters.
    fn vcs(&self) -> usize {
        self.simulation.cluster.vcs.len()
    }

    /// Every pair of a policy and a virtual cluster.
    fn all(&self) -> Vec<(&'a Request<'a>, usize)> {
        let pairs = self.requests.iter();
        pairs
            .flat_map(|request| (0..self.vcs()).map(move |vc| (request, vc)))
            .collect()
    }

    fn run(&self, (request, vc): (&Request<'_>, usize)) -> Stage {
        if self.observer.is_stopped() {
            return Ok(None);
        }
        let profiler_run = self.profiled.as_ref().filter(|_| request.policy.profiled);
        let simulation = self.simulation;
        let run = match simulation.simulate_vc(request, vc, profiler_run, self.observer) {
            // After a stop, a policy may make no further decisions, so its jobs seem to wait forever.
            Err(_) if self.observer.is_stopped() => return Ok(None),
            run => run?,
        };
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let total = self.requests.len() * self.vcs();
        self.observer.progress(done, total);
        Ok(Some(run))
    }

    /// Groups the runs of virtual clusters by policy.
    fn gather(&self, runs: Vec<Stage>) -> Result<Vec<PolicyRun>, SimulateError> {
        // If several stages fail, the error of the first stage is returned, regardless of the number of
        // threads.
        let runs: Vec<Option<VcRun>> = runs.into_iter().collect::<Result<_, _>>()?;
        let mut runs = runs.into_iter();
        let results = self.requests.iter().filter_map(|request| {
            let all: Vec<Option<VcRun>> = runs.by_ref().take(self.vcs()).collect();
            let profiler = self.profiled.clone().filter(|_| request.policy.profiled);
            Some(PolicyRun {
                policy: request.name,
                vcs: all.into_iter().collect::<Option<_>>()?,
                profiler,
            })
        });
        Ok(results.collect())
    }
}

impl Simulation<'_> {
    /// Runs the profiling stage. Returns `None` if the profiler is off, or if no policy profiles jobs.
    fn profile_for(
        &self,
        requests: &[Request],
        observer: &dyn Observer,
    ) -> Result<Option<ProfilerRun>, SimulateError> {
        let request = requests.iter().find(|request| request.policy.profiled);
        let (Some(profiler), Some(request)) = (self.profiler, request) else {
            return Ok(None);
        };
        let failed = |problem| SimulateError {
            policy: request.name,
            vc: "profiler".into(),
            problem,
        };
        let gpus = self.cluster.gpus_per_node;
        let run = profile(
            self.trace,
            profiler,
            gpus,
            self.start,
            self.placer,
            self.forecast,
            observer,
        );
        let run = run.map_err(|failure| failed(failure.into()))?;
        if self.check {
            let jobs: Vec<&Job> = run.jobs.iter().map(|&job| &self.trace.jobs[job]).collect();
            let terms = Terms {
                jobs: &jobs,
                gpus_per_node: gpus,
                nodes: profiler.nodes,
                start: self.start,
                sharing: false,
                split: self.placer.splits(),
                notice: 0,
                due: &|job| job.duration.min(profiler.limit),
                overhead: &checkpoint_overhead,
                entries: None,
                queued: None,
            };
            check(&run.schedule, &terms).map_err(failed)?;
        }
        Ok(Some(run))
    }

    fn simulate_vc(
        &self,
        request: &Request,
        vc: usize,
        profiler_run: Option<&ProfilerRun>,
        observer: &dyn Observer,
    ) -> Result<VcRun, SimulateError> {
        let stage = VcInputs::new(self, vc, profiler_run, request.corrected);
        let schedule = self.schedule(request, &stage, observer);
        let schedule = schedule.map_err(|problem| SimulateError {
            policy: request.name,
            vc: self.cluster.vcs[vc].name.clone(),
            problem,
        })?;
        Ok(VcRun {
            vc,
            jobs: stage.indices,
            schedule,
        })
    }

    fn schedule(
        &self,
        request: &Request,
        stage: &VcInputs<'_>,
        observer: &dyn Observer,
    ) -> Result<Schedule, Problem> {
        let jobs = stage.jobs.iter();
        let estimates: Vec<f64> = jobs.map(|job| self.estimate(request, job)).collect();
        let context = Context {
            jobs: &stage.jobs,
            trace: self.trace,
            estimates: &estimates,
            forecast: self.forecast,
            packing: self.packing,
            start: self.start,
            without: self.without,
        };
        let work: Vec<i64> = stage.jobs.iter().map(|job| job.duration).collect();
        let setting = Setting {
            jobs: &stage.jobs,
            entries: &stage.entries,
            work: &work,
            queued: &stage.queued,
            nodes: stage.nodes,
            gpus_per_node: self.cluster.gpus_per_node,
            start: self.start,
            notice: request.policy.notice,
            placer: self.placer,
            corrected: request.corrected,
        };
        let mut policy = (request.policy.make)(&context);
        let mut scaling: Box<dyn Scaling> = match &stage.echo {
            Some(steps) => Box::new(Lender::new(steps)),
            None => Box::new(Fixed),
        };
        let schedule = run(&setting, policy.as_mut(), scaling.as_mut(), observer)?;
        if self.check {
            check(&schedule, &self.terms(request, stage))?;
        }
        Ok(schedule)
    }

    fn terms<'a>(&self, request: &Request, stage: &'a VcInputs<'_>) -> Terms<'a> {
        Terms {
            jobs: &stage.jobs,
            gpus_per_node: self.cluster.gpus_per_node,
            nodes: stage.nodes,
            start: self.start,
            sharing: request.policy.needs == Needs::Packing,
            split: self.placer.splits(),
            notice: request.policy.notice,
            due: &|job| job.duration,
            overhead: &checkpoint_overhead,
            entries: Some(&stage.entries),
            queued: Some(&stage.queued),
        }
    }

    /// The duration in seconds that a policy assumes for a job: its estimate, or the true duration if
    /// there is no estimate.
    pub fn estimate(&self, request: &Request, job: &Job) -> f64 {
        let estimates = self.estimates;
        let known = estimates.and_then(|estimates| estimates.seconds_under(request.name, job));
        let seconds = known.unwrap_or(job.duration as f64);
        // Estimates from files are already within these limits, but estimates from models may exceed them.
        seconds.clamp(-LONGEST_ESTIMATE, LONGEST_ESTIMATE)
    }
}

fn check(schedule: &Schedule, terms: &Terms<'_>) -> Result<(), Problem> {
    let violations = checker::check(schedule, terms);
    match violations.first() {
        None => Ok(()),
        Some(first) => Err(Problem::Unsound {
            first: first.to_string(),
            count: violations.len(),
        }),
    }
}
