//! Random small traces of several virtual clusters, with a profiler.

use std::sync::atomic::AtomicBool;

use gleaner::domain::{Cluster, Job, Trace, VirtualCluster};
use gleaner::lucid::policies::PolicyEntry;
use gleaner::lucid::profiler::Profiler;
use gleaner::lucid::result::PolicyRun;
use gleaner::lucid::schedule::Schedule;
use gleaner::lucid::{Control, Request, SimulateError, Simulation, simulate};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::plain::cases::{Case, MOST_JOBS, case};
use crate::plain::{self, Switches, World};
use crate::product;

/// A case's jobs in several virtual clusters of its size, and what they lend the profiler.
#[derive(Debug, Clone)]
pub struct Town {
    pub case: Case,
    pub cluster: Cluster,
    pub trace: Trace,
    pub profiler: Profiler,
}

const VCS: usize = 3;

/// Random towns. Few jobs leave some virtual clusters without any.
pub fn town() -> impl Strategy<Value = Town> {
    let lent = vec(select(vec![0u32, 0, 1, 2]), VCS);
    (case(), vec(0..VCS, MOST_JOBS), lent).prop_map(|(case, homes, lent)| {
        let mut case = case;
        for (job, home) in case.jobs.iter_mut().zip(homes) {
            job.vc = home;
        }
        Town::new(case, &lent)
    })
}

impl Town {
    fn new(case: Case, lent: &[u32]) -> Self {
        let vc = |(index, lent): (usize, &u32)| VirtualCluster {
            name: format!("vc{index}"),
            nodes: case.nodes + lent,
        };
        let rule = &case.profiler;
        Town {
            cluster: Cluster {
                vcs: lent.iter().enumerate().map(vc).collect(),
                gpus_per_node: case.gpus_per_node,
            },
            trace: Trace {
                jobs: case.jobs.clone(),
                workloads: case.workloads.clone(),
                origin: None,
            },
            profiler: Profiler {
                limit: rule.limit,
                nodes: rule.nodes,
                factor: f64::from(rule.most_gpus) / f64::from(rule.nodes),
                lent: lent.iter().copied().enumerate().collect(),
                elastic: rule.elastic.then_some(0),
            },
            case,
        }
    }

    /// The simulation, checked.
    pub fn simulation(&self, profiled: bool) -> Simulation<'_> {
        Simulation {
            trace: &self.trace,
            cluster: &self.cluster,
            start: self.case.start,
            placer: product::placer(self.case.placer),
            estimates: Some(&self.case.estimates),
            forecast: Some(&self.case.forecast),
            packing: Some(&self.case.packing),
            profiler: Some(&self.profiler).filter(|_| profiled),
            without: product::without(&self.case.switches),
            check: true,
        }
    }

    /// A policy, with the case's switches.
    pub fn request(&self, policy: &PolicyEntry) -> Request {
        Request {
            name: policy.name,
            policy: *policy,
            corrected: self.case.switches.corrected,
        }
    }

    /// The plain profiler's schedule, with the indices of its jobs.
    pub fn plain_profiler(&self) -> (Vec<usize>, Schedule) {
        let (world, jobs) = self.case.profiler_world();
        (jobs, plain::run(&world, &mut self.case.profiler.rule()))
    }

    /// The plain schedule of a virtual cluster, after the profiler where there was one.
    pub fn plain_schedule(
        &self,
        vc: usize,
        policy: &PolicyEntry,
        profiler: Option<&(Vec<usize>, Schedule)>,
    ) -> Schedule {
        let profiler = profiler.filter(|_| policy.profiled);
        let all: Vec<&Job> = self.case.jobs.iter().collect();
        let (jobs, queued) = match profiler {
            Some((profiled, run)) => plain::after(&all, profiled, run, self.profiler.limit),
            None => (all.clone(), vec![0; all.len()]),
        };
        let here = jobs.into_iter().zip(queued).filter(|(job, _)| job.vc == vc);
        let (jobs, queued) = here.unzip();
        let lent = |_| self.profiler.lent[vc].1;
        let world = World {
            jobs,
            queued,
            nodes: self.cluster.vcs[vc].nodes - profiler.map_or(0, lent),
            ..self.case.world()
        };
        let lends = self.profiler.elastic == Some(vc);
        let steps = profiler.filter(|_| lends).map(|(_, run)| loans(run));
        let switches = Switches {
            echo: steps.unwrap_or_default(),
            ..self.case.switches.clone()
        };
        plain::run(&world, product::rule(policy, &switches).as_mut())
    }
}

/// The profiler's steps; a node that it keeps is returned when its last job ends.
fn loans(run: &Schedule) -> Vec<(i64, i32)> {
    let mut loans = run.scaling.clone();
    if loans.last().is_some_and(|&(_, step)| step > 0) {
        loans.push((run.jobs.iter().map(|job| job.end).max().unwrap(), -1));
    }
    loans
}

/// Simulates to the end, seen by nobody.
pub fn run(
    simulation: &Simulation<'_>,
    requests: &[Request],
) -> Result<Vec<PolicyRun>, SimulateError> {
    let control = Control {
        stop: &AtomicBool::new(false),
        progress: &|_, _| {},
    };
    simulate(simulation, requests, control)
}
