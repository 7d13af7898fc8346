//! Random small traces of several virtual clusters, with a profiler.

use gleaner_domain::Unobserved;
use gleaner_domain::results::policy_run::PolicyRun;
use gleaner_domain::results::schedule::Schedule;
use gleaner_domain::{Cluster, Trace, VirtualCluster};
use gleaner_simulate::policies::PolicyEntry;
use gleaner_simulate::profiler::Profiler;
use gleaner_simulate::{Request, SimulateError, Simulation, simulate};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::plain::cases::{Case, MOST_JOBS, case};
use crate::plain::{self, Profiled};
use crate::product;

/// A case's jobs, distributed over several virtual clusters of the case's size, and the nodes that
/// these clusters lend to the profiler.
#[derive(Debug, Clone)]
pub struct Town {
    pub case: Case,
    pub cluster: Cluster,
    pub trace: Trace,
    pub profiler: Profiler,
}

const VCS: usize = 3;

/// Random towns. If there are few jobs, some virtual clusters have none.
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
                known: Vec::new(),
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

    /// The simulation of the town with checks, and with the profiler if `profiled` is true.
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

    /// A request for a policy, with the case's switches.
    pub fn request<'p>(&self, policy: &PolicyEntry<'p>) -> Request<'p> {
        Request {
            name: policy.name,
            policy: *policy,
            corrected: self.case.switches.corrected,
        }
    }

    /// The result of the plain profiler.
    pub fn plain_profiler(&self) -> Profiled {
        self.case.profiler.profile(&self.case.world())
    }

    /// The plain simulator's schedule of a virtual cluster, after profiling if there is a profiler.
    pub fn plain_schedule(
        &self,
        vc: usize,
        policy: &PolicyEntry,
        profiled: Option<&Profiled>,
    ) -> Schedule {
        let all = self.case.world();
        let mut nodes = self.cluster.vcs[vc].nodes;
        let mut switches = self.case.switches.clone();
        switches.echo.clear();
        let Some(profiled) = profiled.filter(|_| policy.profiled) else {
            let world = all.of_vc(vc, nodes);
            return plain::run(&world, product::rule(policy, &switches).as_mut());
        };
        nodes -= self.profiler.lent[vc].1;
        if self.profiler.elastic == Some(vc) {
            switches.echo = profiled.loans();
        }
        let world = profiled.rest(&all, switches.corrected).of_vc(vc, nodes);
        plain::run(&world, product::rule(policy, &switches).as_mut())
    }
}

/// Simulates to the end, without reporting progress.
pub fn run(
    simulation: &Simulation<'_>,
    requests: &[Request],
) -> Result<Vec<PolicyRun>, SimulateError> {
    simulate(simulation, requests, &Unobserved)
}
