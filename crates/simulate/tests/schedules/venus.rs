//! The published experiment, Venus in September 2020, read with the product's readers.

use std::path::PathBuf;
use std::sync::OnceLock;

use gleaner_domain::cluster::GpuSet;
use gleaner_domain::inputs::{EstimateTable, ForecastTable, PackingTable};
use gleaner_domain::results::policy_run::PolicyRun;
use gleaner_domain::{Cluster, Trace};
use gleaner_inputs::jobs::{cluster, colocate, estimates, forecast, profiles, trace};
use gleaner_simulate::policies::{self, Without};
use gleaner_simulate::profiler::Profiler;
use gleaner_simulate::{Request, Simulation, placers};

use crate::product::policy;
use crate::town;
use gleaner_testing::shared;

/// A file of the experiment. If the file is missing, prints a message to stderr and returns `None`.
pub fn path(name: &str) -> Option<PathBuf> {
    shared(&format!("lucid/venus_sept/{name}"))
}

/// The input of the experiment.
pub struct Venus {
    pub cluster: Cluster,
    pub trace: Trace,
    pub start: i64,
    /// Lucid's estimates. The estimates in `lgb` are for QSSF only.
    pub ebm: EstimateTable,
    pub lgb: EstimateTable,
    pub forecast: ForecastTable,
    pub packing: PackingTable,
    pub profiler: Profiler,
}

/// The experiment, read once; `None` if the data is missing.
pub fn venus() -> Option<&'static Venus> {
    static VENUS: OnceLock<Option<Venus>> = OnceLock::new();
    VENUS.get_or_init(read).as_ref()
}

fn read() -> Option<Venus> {
    let cluster = cluster::read(&path("vc_config.csv")?, 8).unwrap().value;
    let jobs = path("jobs.csv")?;
    let input = trace::read(&jobs, &cluster, trace::Options::default());
    let input = input.unwrap().value;
    let estimates = |name| Some(estimates::read(&path(name)?, &input.trace).unwrap().value);
    let profiles = profiles::read(&path("single_data.csv")?).unwrap().value;
    let pairs = colocate::read(&path("colocate_info.csv")?).unwrap().value;
    let forecast = forecast::read(&path("throughput_pred.csv")?, input.start);
    Some(Venus {
        start: input.start,
        ebm: estimates("duration_estimate_ebm.csv")?,
        lgb: estimates("duration_estimate_lgb.csv")?,
        forecast: forecast.unwrap().value,
        packing: PackingTable::new(&input.trace.workloads, &profiles, &pairs),
        profiler: profiler(&cluster),
        trace: input.trace,
        cluster,
    })
}

fn profiler(cluster: &Cluster) -> Profiler {
    let vc = |name| cluster.vc(name).unwrap();
    Profiler {
        limit: 200,
        nodes: 2,
        factor: 4.0,
        lent: vec![(vc("vc8Gr"), 1), (vc("vcefl"), 1)],
        elastic: Some(vc("vcYVn")),
    }
}

impl Venus {
    /// The simulation as published, with checks.
    pub fn simulation(&self) -> Simulation<'_> {
        Simulation {
            trace: &self.trace,
            cluster: &self.cluster,
            start: self.start,
            placer: placers::ALL[0],
            estimates: Some(&self.ebm),
            forecast: Some(&self.forecast),
            packing: Some(&self.packing),
            profiler: Some(&self.profiler),
            without: Without::default(),
            check: true,
        }
    }

    /// The six policies of the published comparison, simulated once.
    pub fn published(&self) -> &'static [PolicyRun] {
        static RUNS: OnceLock<Vec<PolicyRun>> = OnceLock::new();
        RUNS.get_or_init(|| {
            let published = policies::ALL.iter().filter(|policy| policy.published);
            let requests: Vec<Request> = published.map(|policy| request(policy.name)).collect();
            town::run(&self.simulation(), &requests).unwrap()
        })
    }

    /// The run of a policy in the published comparison.
    pub fn run(&self, policy: &str) -> &'static PolicyRun {
        let mut runs = self.published().iter();
        runs.find(|run| run.policy == policy).unwrap()
    }
}

/// A request for a policy without corrections, as in the original simulator.
pub fn request(name: &str) -> Request<'static> {
    let policy = policy(name);
    Request {
        name: policy.name,
        policy,
        corrected: false,
    }
}

/// Simulates a single policy.
pub fn run_one(simulation: &Simulation<'_>, policy: &str) -> PolicyRun {
    town::run(simulation, &[request(policy)]).unwrap().remove(0)
}

/// Formats nodes with their GPUs as the original simulator does.
pub fn nodes_text(nodes: &[(u32, GpuSet)]) -> String {
    let gpus = |set: GpuSet| -> Vec<u32> { (0..64).filter(|gpu| set >> gpu & 1 == 1).collect() };
    let node = |&(name, set): &(u32, GpuSet)| format!("{{{name}: {:?}}}", gpus(set));
    let nodes: Vec<String> = nodes.iter().map(node).collect();
    format!("[{}]", nodes.join(", "))
}
