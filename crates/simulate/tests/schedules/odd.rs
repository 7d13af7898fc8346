//! Tests unusual input with small fixed examples: no jobs, jobs that never fit, and extreme times and estimates.

use gleaner_domain::Workload;
use gleaner_domain::inputs::{LEAST_SPEED, PackingTable, Pair};
use gleaner_simulate::idle::idle_log;
use gleaner_simulate::metrics::summarise;
use gleaner_simulate::policies;
use gleaner_simulate::profiler::Profiler;
use gleaner_simulate::{Request, Simulation, placers};
use proptest::prelude::*;

use crate::product::policy;
use crate::small::{cluster, simulation, trace};
use crate::town::{self, town};
use crate::venus::{request, run_one};

fn requests() -> Vec<Request<'static>> {
    policies::ALL
        .iter()
        .map(|policy| request(policy.name))
        .collect()
}

fn profiler(factor: f64, elastic: usize) -> Profiler {
    Profiler {
        limit: 10,
        nodes: 1,
        factor,
        lent: Vec::new(),
        elastic: Some(elastic),
    }
}

#[test]
fn a_trace_without_jobs_is_simulated() {
    let (trace, cluster) = (trace(&[]), cluster(&[2, 1], 8));
    let profiler = profiler(4.0, 0);
    let simulation = Simulation {
        profiler: Some(&profiler),
        ..simulation(&trace, &cluster)
    };
    for run in town::run(&simulation, &requests()).unwrap() {
        assert!(run.finished().is_empty());
        assert_eq!(summarise(&trace, &cluster, &run).makespan_s, 0);
        let log = idle_log(&trace, &cluster, &run, 0, true).unwrap();
        assert_eq!((log.len(), log.changes(0).len()), (1, 3));
    }
}

#[test]
fn jobs_that_never_fit_are_an_error() {
    let trace = trace(&[(0, 1, 0, 50), (1, 5, 7, 10), (2, 1, 9, 10), (2, 2, 9, 10)]);
    let cluster = cluster(&[1, 1, 0], 4);
    for request in requests() {
        let simulation = simulation(&trace, &cluster);
        let error = town::run(&simulation, &[request]).unwrap_err().to_string();
        // QSSF tries again one second later, and Tiresias at the next full minute.
        let seconds = match request.name {
            "qssf" => 8,
            "tiresias" => 60,
            _ => 7,
        };
        let expected = format!(
            "{}, vc1: after second {seconds}, nothing runs and 1 job waits forever; \
             the first is j1, which requests 5 GPUs from a cluster of 1 node",
            request.name
        );
        assert_eq!(error, expected);
    }
}

#[test]
fn times_may_be_as_long_as_a_trace_allows() {
    const LONG: i64 = 1_000_000_000;
    let start = 1_000_000_000_000;
    let jobs = [
        (0, 64, start, LONG),
        (0, 1, start, LONG),
        (0, 1, start, LONG),
        (0, 128, start + 1, LONG),
        (0, 3, start + LONG, LONG),
    ];
    let mut trace = trace(&jobs);
    trace.workloads = vec![Workload {
        model: "slow".into(),
        dataset: String::new(),
        batch_size: 1,
        amp: false,
    }];
    trace.jobs.iter_mut().for_each(|job| job.workload = Some(0));
    let slow = Pair {
        speeds: (LEAST_SPEED, LEAST_SPEED),
        gpu_util: 1.0,
        gmem: 1.0,
    };
    let packing = PackingTable {
        scores: vec![Some(0)],
        pairs: [((0, 0), slow)].into(),
        unmeasured: vec![false],
    };
    let cluster = cluster(&[2], 64);
    for placer in placers::ALL {
        let simulation = Simulation {
            start,
            placer: *placer,
            packing: Some(&packing),
            ..simulation(&trace, &cluster)
        };
        for run in town::run(&simulation, &requests()).unwrap() {
            let lucid = run.policy == "lucid";
            let last = run
                .finished()
                .iter()
                .map(|job| job.outcome.end)
                .max()
                .unwrap();
            assert_eq!(last > start + 50 * LONG, lucid, "{}", run.policy);
        }
    }
}

/// Estimates from models are not limited, unlike estimates from files.
#[test]
fn estimates_may_be_any_number() {
    let jobs = [(0, 64, 0, 50), (0, 1, 0, 50), (0, 1, 3, 50), (0, 3, 5, 7)];
    let (trace, cluster) = (trace(&jobs), cluster(&[1], 64));
    for seconds in [
        1e19,
        -1e19,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ] {
        let simulation = Simulation {
            estimates: Some(&seconds),
            check: true,
            ..simulation(&trace, &cluster)
        };
        for run in town::run(&simulation, &requests()).unwrap() {
            assert_eq!(run.finished().len(), 4, "{} {seconds}", run.policy);
        }
    }
}

/// The forecast is so high that the profiler keeps the node that it borrows, the only node of `vc0`, until the last
/// profiled job has ended.
#[test]
fn a_borrowed_node_is_returned_when_no_job_is_left_to_profile() {
    let mut jobs = vec![(1, 1, 0, 5); 30];
    jobs.push((0, 2, 1, 100));
    let (trace, cluster) = (trace(&jobs), cluster(&[1, 20], 2));
    let profiler = profiler(1.0, 0);
    let simulation = Simulation {
        forecast: Some(&1e6),
        profiler: Some(&profiler),
        ..simulation(&trace, &cluster)
    };
    let run = run_one(&simulation, "lucid");
    let profiled = run.profiler.unwrap().schedule;
    assert_eq!(profiled.scaling, [(0, 1)]);
    // In the first second, 2 jobs run at the same time. After that, 4 jobs do. The last jobs start in second 35.
    assert_eq!(profiled.jobs[29].end, 40);
    assert_eq!(run.vcs[0].schedule.scaling, [(0, -1), (40, 1)]);
    assert_eq!(run.vcs[0].schedule.jobs[0].start, 41);
}

proptest! {
    #![proptest_config(gleaner_testing::cases(64))]

    /// Without measured pairs, no jobs share GPUs. The schedule is the same as with Lucid's forecast switched off.
    #[test]
    fn lucid_without_pairs_never_shares(town in town(), profiled: bool) {
        let request = town.request(&policy("lucid"));
        let simulation = town.simulation(profiled);
        let unmeasured = Simulation { packing: None, ..simulation };
        let mut off = simulation;
        off.without.throughput = true;
        let [unmeasured, off] = [unmeasured, off].map(|s| town::run(&s, &[request]));
        prop_assert_eq!(unmeasured, off);
    }
}
