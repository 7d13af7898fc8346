//! Helpers for small hand-made simulations.

use gleaner_domain::{Cluster, Job, Trace, VirtualCluster};
use gleaner_simulate::policies::Without;
use gleaner_simulate::{Simulation, placers};

use crate::plain::cases::job;

/// A cluster with the virtual clusters `vc0`, `vc1` and so on, which have these numbers of nodes.
pub fn cluster(nodes: &[u32], gpus_per_node: u32) -> Cluster {
    let vc = |(index, &nodes): (usize, &u32)| VirtualCluster {
        name: format!("vc{index}"),
        nodes,
    };
    Cluster {
        vcs: nodes.iter().enumerate().map(vc).collect(),
        gpus_per_node,
    }
}

/// A trace of jobs, each given by its virtual cluster, number of GPUs, submission time and duration.
pub fn trace(jobs: &[(usize, u32, i64, i64)]) -> Trace {
    let given = |(index, &(vc, gpus, submit, duration))| Job {
        vc,
        ..job(index, gpus, submit, duration)
    };
    Trace {
        jobs: jobs.iter().enumerate().map(given).collect(),
        ..Trace::default()
    }
}

/// A simulation with checks, and without estimates, forecasts or profiles.
pub fn simulation<'a>(trace: &'a Trace, cluster: &'a Cluster) -> Simulation<'a> {
    Simulation {
        trace,
        cluster,
        start: 0,
        placer: placers::ALL[0],
        estimates: None,
        forecast: None,
        packing: None,
        profiler: None,
        without: Without::default(),
        check: true,
    }
}
