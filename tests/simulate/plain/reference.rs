//! The plain simulator against the published results of three small virtual clusters
//! and of the profiler (golden values).

mod files;

use std::sync::OnceLock;

use gleaner::domain::cluster::GpuSet;
use gleaner::lucid::schedule::{JobOutcome, Schedule, State};

use super::sound::{Promise, SHARED, STEPPED, TIMED, assert_sound};
use super::{
    Fifo, Lucid, Placer, Profiler, Qssf, Rule, Sjf, Srtf, Switches, Tiresias, World, after,
    minutes, run,
};
use files::{Data, Table};

const VCS: [&str; 3] = ["vcvlY", "vchbv", "vcgkz"];
/// Those of which there are tables by minute.
const BY_MINUTE: [&str; 2] = ["vcvlY", "vchbv"];
/// Seconds that the profiler gives a job.
const LIMIT: i64 = 200;
const LARGEST_PROFILED: u32 = 8;

/// The data with the profiler's schedule, which several tests need.
struct Published {
    data: Data,
    profiled: Vec<usize>,
    profiler: Schedule,
}

fn published() -> Option<&'static Published> {
    static PUBLISHED: OnceLock<Option<Published>> = OnceLock::new();
    PUBLISHED.get_or_init(|| Data::read().map(profile)).as_ref()
}

fn profile(data: Data) -> Published {
    let jobs = &data.jobs;
    let small = |&index: &usize| jobs[index].gpus <= LARGEST_PROFILED;
    let profiled: Vec<usize> = (0..jobs.len()).filter(small).collect();
    let mut world = world(&data, 2);
    world.jobs = profiled.iter().map(|&index| &jobs[index]).collect();
    world.queued = vec![0; profiled.len()];
    let mut rule = Profiler {
        limit: LIMIT,
        most_gpus: LARGEST_PROFILED,
        elastic: true,
    };
    let profiler = run(&world, &mut rule);
    Published {
        profiled,
        profiler,
        data,
    }
}

/// A world without jobs.
fn world(data: &Data, nodes: u32) -> World<'_> {
    World {
        jobs: Vec::new(),
        queued: Vec::new(),
        nodes,
        gpus_per_node: 8,
        start: files::START,
        placer: Placer::Consolidate,
        estimates: &data.estimates,
        forecast: &data.forecast,
        packing: &data.packing,
    }
}

/// A policy with the name of its reference.
struct Policy<'a> {
    name: &'a str,
    rule: &'a dyn Fn() -> Box<dyn Rule>,
    promise: Promise,
    /// Whether it gets only the jobs that the profiler left.
    profiled: bool,
}

/// Compares the jobs of the small virtual clusters with the policy's reference.
fn assert_published(policy: &Policy) {
    let Some(published) = published() else { return };
    let table = Table::read(&format!("{}_jobs", policy.name));
    for vc in VCS {
        assert_vc(published, &table, vc, policy);
    }
}

fn assert_vc(published: &Published, table: &Table, vc: &str, policy: &Policy) {
    let Policy { name, .. } = policy;
    let world = vc_world(published, vc, policy.profiled);
    let schedule = run(&world, &mut *(policy.rule)());
    for (job, outcome) in world.jobs.iter().zip(&schedule.jobs) {
        assert_eq!(row(outcome), table.row(&job.id), "{name}, job {}", job.id);
    }
    assert_sound(&schedule, &world, policy.promise);
    if BY_MINUTE.contains(&vc) && !name.contains('_') {
        assert_minutes(&schedule, &format!("{name}_{vc}_seq"), true);
    }
}

/// The jobs and nodes of a virtual cluster; `profiled`: those that the profiler left.
fn vc_world<'a>(published: &'a Published, vc: &str, profiled: bool) -> World<'a> {
    let data = &published.data;
    let (index, nodes) = data.vc(vc);
    let all: Vec<_> = data.jobs.iter().collect();
    let (jobs, queued) = if profiled {
        after(&all, &published.profiled, &published.profiler, LIMIT)
    } else {
        let none = vec![0; all.len()];
        (all, none)
    };
    let own = jobs.into_iter().zip(queued);
    let (jobs, queued) = own.filter(|(job, _)| job.vc == index).unzip();
    World {
        jobs,
        queued,
        ..world(data, nodes)
    }
}

/// Start, end, queue, checkpoints, nodes as the original writes them.
fn row(outcome: &JobOutcome) -> (i64, i64, i64, i64, String) {
    let JobOutcome {
        start, end, queue, ..
    } = *outcome;
    let nodes = written(&outcome.nodes);
    (start, end, queue, outcome.checkpoints.into(), nodes)
}

fn written(nodes: &[(u32, GpuSet)]) -> String {
    let gpus = |set: GpuSet| -> Vec<u32> { (0..64).filter(|gpu| set >> gpu & 1 == 1).collect() };
    let node = |&(name, set): &(u32, GpuSet)| format!("{{{name}: {:?}}}", gpus(set));
    let nodes: Vec<String> = nodes.iter().map(node).collect();
    format!("[{}]", nodes.join(", "))
}

fn assert_minutes(schedule: &Schedule, file: &str, usage: bool) {
    let table = Table::read(file);
    let minutes = minutes(schedule);
    assert_eq!(minutes.len(), table.rows(), "{file}");
    for (row, &(time, state)) in minutes.iter().enumerate() {
        let mut values = counts(time, &state).to_vec();
        if usage {
            values.extend(usages(&state));
        }
        for (column, value) in values {
            let expected = table.number(row, column);
            let near = (value - expected).abs() <= 1e-9 * expected.abs().max(1.0);
            assert!(
                near,
                "{file}, row {row}: {column} is {value}, {expected} published"
            );
        }
    }
}

fn counts(time: i64, state: &State) -> [(&'static str, f64); 10] {
    [
        ("time", time as f64),
        ("total_gpu_num", state.total_gpus as f64),
        ("idle_gpu_num", state.idle_gpus as f64),
        ("pending_gpu_num", state.pending_gpus as f64),
        ("running_gpujob_num", state.running_jobs.into()),
        ("pending_gpujob_num", state.pending_jobs.into()),
        ("pending_job_num_less_8", state.pending_small_jobs.into()),
        ("total_node_num", state.nodes.into()),
        ("consolidate_node_num", state.single_nodes.into()),
        ("shared_node_num", state.shared_nodes.into()),
    ]
}

fn usages(state: &State) -> [(&'static str, f64); 4] {
    [
        ("sm_util", state.gpu_util),
        ("gmem_util", state.gmem),
        ("sm_util_active", state.gpu_util_active),
        ("gmem_util_active", state.gmem_active),
    ]
}

fn unprofiled<'a>(
    name: &'a str,
    rule: &'a dyn Fn() -> Box<dyn Rule>,
    promise: Promise,
) -> Policy<'a> {
    Policy {
        name,
        rule,
        promise,
        profiled: false,
    }
}

#[test]
fn fifo_is_as_published() {
    assert_published(&unprofiled("fifo", &|| Box::new(Fifo), TIMED));
}

#[test]
fn sjf_is_as_published() {
    assert_published(&unprofiled("sjf", &|| Box::new(Sjf), TIMED));
}

#[test]
fn qssf_is_as_published() {
    assert_published(&unprofiled("qssf", &|| Box::new(Qssf), TIMED));
}

#[test]
fn srtf_is_as_published() {
    assert_published(&unprofiled("srtf", &|| Box::new(Srtf), STEPPED));
}

#[test]
fn tiresias_is_as_published() {
    assert_published(&unprofiled("tiresias", &|| Box::new(Tiresias), STEPPED));
}

/// Lucid with these switches, as a test for the virtual clusters it is given.
fn with_lucid(name: &str, switches: &Switches, assert: impl FnOnce(&Policy)) {
    assert(&Policy {
        name,
        rule: &|| Box::new(Lucid::new(switches.clone())),
        promise: SHARED,
        profiled: true,
    });
}

#[test]
fn lucid_is_as_published() {
    with_lucid("lucid", &Switches::default(), assert_published);
}

#[test]
fn lucid_without_throughput_is_as_published() {
    let switches = Switches {
        without_throughput: true,
        ..Switches::default()
    };
    with_lucid("lucid_no_throughput", &switches, assert_published);
}

#[test]
fn lucid_without_estimates_is_as_published() {
    let switches = Switches {
        without_estimates: true,
        ..Switches::default()
    };
    with_lucid("lucid_no_estimate", &switches, assert_published);
}

/// The virtual cluster that echoes the profiler's scaling, with renamed nodes.
#[test]
fn the_echo_is_as_published() {
    let Some(published) = published() else { return };
    let switches = Switches {
        echo: published.profiler.scaling.clone(),
        ..Switches::default()
    };
    let table = Table::read("lucid_jobs");
    let assert = |policy: &Policy| assert_vc(published, &table, "vcYVn", policy);
    with_lucid("lucid", &switches, assert);
}

#[test]
fn the_profiler_is_as_published() {
    let Some(published) = published() else { return };
    let Published {
        data,
        profiled,
        profiler,
    } = published;
    let table = Table::read("profiler_jobs");
    for (&index, outcome) in profiled.iter().zip(&profiler.jobs) {
        let id = &data.jobs[index].id;
        let found = (
            outcome.start,
            outcome.end,
            outcome.queue,
            written(&outcome.nodes),
        );
        assert_eq!(found, table.profiler_row(id), "job {id}");
    }
    assert_eq!(profiler.scaling, files::scaling());
    assert_minutes(profiler, "profiler_seq", false);
}
