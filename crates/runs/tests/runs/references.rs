//! Tests that reading the published tables and writing them again leaves them unchanged.

use std::collections::BTreeMap;

use gleaner_domain::results::Table;
use gleaner_domain::results::policy_run::{PolicyRun, ProfilerRun, VcRun};
use gleaner_domain::results::schedule::{JobOutcome, Placement, Samples, State};
use gleaner_domain::{Cluster, Trace};
use gleaner_runs::simulate;

use super::support::{Content, cluster, job, outcome, vc_run, written};

fn reference(name: &str) -> Option<Content> {
    let path = gleaner_testing::shared(&format!("lucid/venus_sept/reference/{name}.parquet"))?;
    Some(Content::of(std::fs::read(path).unwrap()))
}

/// The placement described by a string such as `[{0: [0, 1]}, {3: [2]}]`.
fn placement(text: &str) -> Placement {
    let nodes = text.split('{').skip(1).map(|node| {
        let (name, gpus) = node.split_once(": [").unwrap();
        let gpus = gpus.split(']').next().unwrap().split(", ");
        let set = gpus.map(|gpu| 1 << gpu.parse::<u32>().unwrap()).sum();
        (name.parse().unwrap(), set)
    });
    nodes.collect()
}

/// Converts a reference table of jobs to a run.
fn run_of(table: &Content) -> (Trace, Cluster, PolicyRun) {
    let [submit, duration, gpus, start, end, queue, checkpoints, ids] = [
        "submit_time",
        "duration",
        "gpu_num",
        "start_time",
        "end_time",
        "queue",
        "ckpt_times",
        "job_id",
    ]
    .map(|name| table.numbers(name));
    let (names, nodes) = (table.texts("vc"), table.texts("nodes"));
    let vcs: BTreeMap<&str, usize> = names.iter().map(|name| (name.as_str(), 0)).collect();
    let vcs: BTreeMap<&str, usize> = vcs.into_keys().zip(0..).collect();
    let mut runs: Vec<VcRun> = (0..vcs.len()).map(|vc| vc_run(vc, &[], vec![])).collect();
    let mut trace = Trace::default();
    for row in 0..names.len() {
        let vc = vcs[names[row].as_str()];
        let id = ids[row].to_string();
        trace.jobs.push(job(
            &id,
            vc,
            gpus[row] as u32,
            submit[row] as i64,
            duration[row] as i64,
        ));
        runs[vc].jobs.push(row);
        runs[vc].schedule.jobs.push(JobOutcome {
            checkpoints: checkpoints[row] as u32,
            nodes: placement(&nodes[row]),
            ..outcome(start[row] as i64, end[row] as i64, queue[row] as i64)
        });
    }
    let sizes: Vec<(&str, u32)> = vcs.into_keys().map(|name| (name, 1)).collect();
    let run = PolicyRun {
        policy: "any",
        vcs: runs,
        profiler: None,
    };
    (trace, cluster(&sizes), run)
}

/// The runs with published tables of jobs.
const RUNS: [&str; 9] = [
    "fifo",
    "sjf",
    "qssf",
    "qssf_lgb",
    "tiresias",
    "srtf",
    "lucid",
    "lucid_no_throughput",
    "lucid_no_estimate",
];

// Golden values: the published tables of jobs. The tests of gleaner-simulate check the figures.
#[test]
fn job_tables_of_the_references() {
    for name in RUNS {
        let Some(table) = reference(&format!("{name}_jobs")) else {
            return;
        };
        let (trace, cluster, run) = run_of(&table);
        let again = written(&Table::of(
            "jobs",
            &simulate::job_rows(&trace, &cluster, &run),
        ));
        for column in &again.columns {
            match column.as_str() {
                "vc" | "nodes" => {
                    assert_eq!(again.texts(column), table.texts(column), "{name} {column}")
                }
                _ => assert_eq!(
                    again.numbers(column),
                    table.numbers(column),
                    "{name} {column}"
                ),
            }
        }
    }
}

/// A reference table of states as samples.
fn samples_of(table: &Content) -> Vec<Samples> {
    let counts = |name: &str| table.numbers(name);
    let floats = |name: &str| {
        if table.columns.iter().any(|column| column == name) {
            table.numbers(name)
        } else {
            vec![0.0; table.rows.len()]
        }
    };
    let [
        time,
        total,
        idle,
        pending,
        running,
        waiting,
        small,
        nodes,
        single,
        shared,
    ] = [
        "time",
        "total_gpu_num",
        "idle_gpu_num",
        "pending_gpu_num",
        "running_gpujob_num",
        "pending_gpujob_num",
        "pending_job_num_less_8",
        "total_node_num",
        "consolidate_node_num",
        "shared_node_num",
    ]
    .map(counts);
    let [util, gmem, util_active, gmem_active] =
        ["sm_util", "gmem_util", "sm_util_active", "gmem_util_active"].map(floats);
    let mut samples: Vec<Samples> = Vec::new();
    for row in 0..time.len() {
        let state = State {
            total_gpus: total[row] as u64,
            idle_gpus: idle[row] as u64,
            pending_gpus: pending[row] as u64,
            running_jobs: running[row] as u32,
            pending_jobs: waiting[row] as u32,
            pending_small_jobs: small[row] as u32,
            nodes: nodes[row] as u32,
            single_nodes: single[row] as u32,
            shared_nodes: shared[row] as u32,
            gpu_util: util[row],
            gmem: gmem[row],
            gpu_util_active: util_active[row],
            gmem_active: gmem_active[row],
        };
        match samples.last_mut() {
            Some(last) if last.state == state => last.count += 1,
            _ => samples.push(Samples {
                first: time[row] as i64,
                count: 1,
                state,
            }),
        }
    }
    samples
}

// Golden values: the published tables of states.
#[test]
fn states_of_the_references() {
    for policy in ["fifo", "sjf", "srtf", "qssf", "tiresias", "lucid"] {
        for vc in ["vcvlY", "vchbv"] {
            let Some(table) = reference(&format!("{policy}_{vc}_seq")) else {
                return;
            };
            let mut only = vc_run(0, &[], vec![]);
            only.schedule.samples = samples_of(&table);
            let run = PolicyRun {
                policy,
                vcs: vec![only],
                profiler: None,
            };
            let again = written(&simulate::seq(
                "seq",
                &run,
                &[vc],
                simulate::Interval::default(),
            ));
            assert_eq!(again.columns[1..], table.columns);
            for column in &table.columns {
                assert_eq!(
                    again.numbers(column),
                    table.numbers(column),
                    "{policy} {vc} {column}"
                );
            }
        }
    }
}

// Golden values: the published tables of the profiler. Lucid's profiler writes a missing time as the largest integer.
#[test]
fn tables_of_the_profiler() {
    let (Some(table), Some(states)) = (reference("profiler_jobs"), reference("profiler_seq"))
    else {
        return;
    };
    let [start, end, profiled, queue, skipped, ids] = [
        "start_time",
        "end_time",
        "profiled",
        "profqueue",
        "toskip",
        "job_id",
    ]
    .map(|name| table.numbers(name));
    let nodes = table.texts("nodes");
    let mut trace = Trace::default();
    let mut ran = vc_run(0, &[], vec![]);
    for row in 0..ids.len() {
        let duration = if skipped[row] == 1.0 { 200 } else { 201 };
        trace
            .jobs
            .push(job(&ids[row].to_string(), 0, 1, 0, duration));
        if profiled[row] == 1.0 {
            ran.jobs.push(row);
            ran.schedule.jobs.push(JobOutcome {
                nodes: placement(&nodes[row]),
                ..outcome(start[row] as i64, end[row] as i64, queue[row] as i64)
            });
        }
    }
    ran.schedule.samples = samples_of(&states);
    let profiler = ProfilerRun {
        jobs: ran.jobs,
        schedule: ran.schedule,
        limit: 200,
        extra_gpus: 0,
    };
    let again = written(&Table::of(
        "p",
        &simulate::profiler_job_rows(&trace, &profiler),
    ));
    assert_eq!(again.columns, table.columns);
    assert_eq!(again.texts("nodes"), nodes);
    for column in ["job_id", "profiled", "profqueue", "toskip"] {
        assert_eq!(again.numbers(column), table.numbers(column), "{column}");
    }
    let (starts, ends) = (again.numbers("start_time"), again.numbers("end_time"));
    for row in 0..ids.len() {
        if profiled[row] == 1.0 {
            assert_eq!((starts[row], ends[row]), (start[row], end[row]));
        } else {
            assert!(starts[row].is_nan() && ends[row].is_nan());
        }
    }
    let again = written(&simulate::profiler_seq(
        &profiler,
        simulate::Interval::default(),
    ));
    assert_eq!(again.columns, states.columns);
    for column in &states.columns {
        assert_eq!(again.numbers(column), states.numbers(column), "{column}");
    }
}
