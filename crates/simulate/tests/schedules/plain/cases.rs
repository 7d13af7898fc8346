//! Random small traces with situations that are rare in large traces. Examples are ties, gangs that do not fit, ticks
//! of 10, 60 and 100 seconds, pairs with fractional speeds, and full memory.

use gleaner_domain::inputs::{EstimateTable, ForecastTable, PackingTable};
use gleaner_domain::{Job, Usage, Workload};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::known::{forecast, packing, profiler, switches};
use super::{Placer, Profiler, Switches, World};

/// A virtual cluster with its jobs, and all inputs of policies.
#[derive(Debug, Clone)]
pub struct Case {
    pub nodes: u32,
    pub gpus_per_node: u32,
    pub start: i64,
    pub placer: Placer,
    pub jobs: Vec<Job>,
    /// Seconds that the jobs have already waited for a profiler; used only for Lucid.
    pub queued: Vec<i64>,
    pub workloads: Vec<Workload>,
    pub estimates: EstimateTable,
    pub forecast: ForecastTable,
    pub packing: PackingTable,
    pub switches: Switches,
    pub profiler: Profiler,
}

impl Case {
    /// The input of a simulation of this case in which no job has waited for a profiler.
    pub fn world(&self) -> World<'_> {
        World {
            jobs: self.jobs.iter().collect(),
            entries: self.jobs.iter().map(|job| job.submit).collect(),
            queued: vec![0; self.jobs.len()],
            nodes: self.nodes,
            gpus_per_node: self.gpus_per_node,
            start: self.start,
            placer: self.placer,
            estimates: &self.estimates,
            forecast: &self.forecast,
            packing: &self.packing,
        }
    }
}

/// A completed job in virtual cluster 0, without a user, a name or a workload.
pub fn job(index: usize, gpus: u32, submit: i64, duration: i64) -> Job {
    Job {
        id: format!("j{index}"),
        user: String::new(),
        vc: 0,
        name: String::new(),
        gpus,
        cpus: 0.0,
        state: "COMPLETED".into(),
        submit,
        duration,
        workload: None,
        usage: Usage::default(),
    }
}

pub const WORKLOADS: usize = 4;
/// Maximum number of jobs in a case.
pub const MOST_JOBS: usize = 30;

/// A job before it is fitted into its virtual cluster.
#[derive(Debug, Clone)]
struct Draft {
    burst: usize,
    late: i64,
    duration: i64,
    gpus: u32,
    estimate: f64,
    queued: i64,
    workload: usize,
    gpu_util: f64,
    gmem: f64,
}

fn draft() -> impl Strategy<Value = Draft> {
    let late = prop_oneof![3 => Just(0), 1 => 0..4i64];
    let duration = prop_oneof![
        2 => 1..6i64,
        2 => select(vec![59, 60, 99, 100, 101, 200]),
        6 => 1..400i64,
        1 => 400..2500i64,
    ];
    let gpus = prop_oneof![2 => 1..3u32, 2 => 1..9u32, 1 => 1..33u32];
    let estimates = [-5.0, 0.0, 1.0, 10.5, 50.0, 100.0, 100.0, 333.25, 2000.0];
    let memories = [
        900.0, 4000.0, 12_287.5, 12_288.0, 12_288.5, 20_576.0, 24_576.0,
    ];
    let burst = prop_oneof![2 => Just(0), 1 => 0..4usize];
    let when = (burst, late, duration);
    let what = (0..WORKLOADS, select(vec![0.0, 12.5, 60.0, 99.0]));
    let known = (select(estimates.to_vec()), select(memories.to_vec()));
    let queued = prop_oneof![2 => Just(0), 1 => 0..500i64];
    (when, gpus, what, known, queued).prop_map(
        |((burst, late, duration), gpus, (workload, gpu_util), (estimate, gmem), queued)| Draft {
            burst,
            late,
            duration,
            gpus,
            estimate,
            queued,
            workload,
            gpu_util,
            gmem,
        },
    )
}

/// The size of a virtual cluster, and the start of its simulation.
#[derive(Debug, Clone)]
struct Frame {
    nodes: u32,
    gpus_per_node: u32,
    placer: Placer,
    /// Second from which jobs are submitted.
    open: i64,
    /// Seconds from `open` to the start of the simulation.
    delay: i64,
}

fn frame() -> impl Strategy<Value = Frame> {
    let gpus_per_node = prop_oneof![9 => select(vec![2u32, 4, 8]), 1 => select(vec![1, 64])];
    let placer = select(Placer::ALL.to_vec());
    let open = select(vec![0i64, 37, 13_219_200]);
    let delay = prop_oneof![6 => Just(0), 1 => 1..300i64];
    (1..5u32, gpus_per_node, placer, open, delay).prop_map(
        |(nodes, gpus_per_node, placer, open, delay)| Frame {
            nodes,
            gpus_per_node,
            placer,
            open,
            delay,
        },
    )
}

/// Random small traces.
pub fn case() -> impl Strategy<Value = Case> {
    let bursts = vec(0..700i64, 4);
    let drafts = prop_oneof![1 => vec(draft(), 1..24), 2 => vec(draft(), 24..=MOST_JOBS)];
    let known = (packing(), forecast());
    (frame(), bursts, drafts, known, switches(), profiler()).prop_map(
        |(frame, bursts, drafts, known, switches, profiler)| {
            assemble(frame, &bursts, drafts, known, switches, profiler)
        },
    )
}

fn assemble(
    frame: Frame,
    bursts: &[i64],
    mut drafts: Vec<Draft>,
    (packing, forecast): (PackingTable, Vec<(f64, f64)>),
    mut switches: Switches,
    mut profiler: Profiler,
) -> Case {
    let Frame {
        nodes,
        gpus_per_node,
        placer,
        open,
        delay,
    } = frame;
    let submit = |draft: &Draft| open + bursts[draft.burst] + draft.late;
    drafts.sort_by_key(submit);
    let fitted = |(index, draft): (usize, &Draft)| {
        let gpus = 1 + (draft.gpus - 1) % (nodes * gpus_per_node);
        let mut job = job(index, gpus, submit(draft), draft.duration);
        job.workload = Some(draft.workload);
        job.usage.gpu_util = draft.gpu_util;
        job.usage.gmem = draft.gmem;
        job
    };
    let jobs: Vec<Job> = drafts.iter().enumerate().map(fitted).collect();
    let estimated = jobs.iter().zip(&drafts);
    for (second, _) in &mut switches.echo {
        *second += open / 10 * 10;
    }
    profiler.most_gpus = 1 + (profiler.most_gpus - 1) % (profiler.nodes * gpus_per_node);
    Case {
        nodes,
        gpus_per_node,
        start: open + delay,
        placer,
        queued: drafts.iter().map(|draft| draft.queued).collect(),
        workloads: (0..WORKLOADS).map(workload).collect(),
        estimates: EstimateTable(
            estimated
                .map(|(job, draft)| (job.id.clone(), draft.estimate))
                .collect(),
        ),
        forecast: ForecastTable {
            times: (0..forecast.len() as i64).map(|i| open + 40 * i).collect(),
            gpu_jobs: forecast.iter().map(|row| row.0).collect(),
            gpus: forecast.iter().map(|row| row.1).collect(),
            ..ForecastTable::default()
        },
        packing,
        switches,
        profiler,
        jobs,
    }
}

fn workload(index: usize) -> Workload {
    Workload {
        model: format!("model {index}"),
        dataset: "data".into(),
        batch_size: 32,
        amp: false,
    }
}
