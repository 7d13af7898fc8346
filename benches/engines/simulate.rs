//! Measures the speed, in jobs per second, at which the sample cluster in `dataset/` is simulated with every policy on
//! one thread.

use criterion::{Criterion, Throughput};
use gleaner_domain::Unobserved;
use gleaner_domain::inputs::{EstimateTable, ForecastTable, PackingTable};
use gleaner_domain::results::policy_run::PolicyRun;
use gleaner_domain::{Cluster, Trace};
use gleaner_inputs::jobs::{cluster, colocate, estimates, forecast, profiles, trace};
use gleaner_simulate::policies::{self, PolicyEntry, Without};
use gleaner_simulate::{Request, Simulation, placers, simulate};
use std::path::PathBuf;

const GPUS_PER_NODE: u32 = 8;

pub fn benches(criterion: &mut Criterion) {
    let sample = Sample::read();
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1);
    let one_thread = one_thread.build().unwrap();
    let mut group = super::group(criterion, "simulate");
    group.throughput(Throughput::Elements(sample.trace.jobs.len() as u64));
    for &policy in policies::ALL {
        group.bench_function(policy.name, |bench| {
            one_thread.install(|| bench.iter(|| sample.run(policy)));
        });
    }
    group.finish();
}

/// The sample data. Estimates and forecasts come from tables, not from models.
struct Sample {
    cluster: Cluster,
    trace: Trace,
    start: i64,
    estimates: EstimateTable,
    forecast: ForecastTable,
    packing: PackingTable,
}

fn file(name: &str) -> PathBuf {
    gleaner_testing::workspace()
        .join("dataset/cluster")
        .join(name)
}

impl Sample {
    fn read() -> Self {
        let cluster = cluster::read(&file("vc_config.csv"), GPUS_PER_NODE);
        let cluster = cluster.unwrap().value;
        let input = trace::read(&file("jobs.csv"), &cluster, trace::Options::default());
        let input = input.unwrap().value;
        let estimates = estimates::read(&file("duration_estimate.csv"), &input.trace);
        let forecast = forecast::read(&file("throughput_pred.csv"), input.start);
        let profiles = profiles::read(&file("single_data.csv")).unwrap().value;
        let pairs = colocate::read(&file("colocate_info.csv")).unwrap().value;
        Sample {
            start: input.start,
            estimates: estimates.unwrap().value,
            forecast: forecast.unwrap().value,
            packing: PackingTable::new(&input.trace.workloads, &profiles, &pairs),
            trace: input.trace,
            cluster,
        }
    }

    fn run(&self, policy: PolicyEntry) -> Vec<PolicyRun> {
        let simulation = Simulation {
            trace: &self.trace,
            cluster: &self.cluster,
            start: self.start,
            placer: placers::ALL[0],
            estimates: Some(&self.estimates),
            forecast: Some(&self.forecast),
            packing: Some(&self.packing),
            profiler: None,
            without: Without::default(),
            check: false,
        };
        let request = Request {
            name: policy.name,
            policy,
            corrected: false,
        };
        simulate(&simulation, &[request], &Unobserved).unwrap()
    }
}
