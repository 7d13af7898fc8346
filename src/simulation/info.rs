//! The part of `run.json` that is specific to simulations.

use std::collections::BTreeMap;

use serde::Serialize;

use super::results::Results;
use gleaner_domain::Cluster;
use gleaner_predict::Week;
use gleaner_setup::experiment::EstimatesUsed;
use gleaner_simulate::Simulation;
use gleaner_simulate::profiler::Profiler;

/// The fields that a simulation adds to `run.json`.
#[derive(Serialize)]
pub struct Info<'a> {
    /// The profiler's settings, with `auto` resolved.
    profiler: Option<ProfilerInfo<'a>>,
    /// The source of the estimates; null if no policy uses them.
    estimates: Option<EstimatesInfo<'a>>,
    /// Time at which the simulation starts, in seconds on the trace's clock.
    start: i64,
    corrections: Vec<CorrectionInfo<'a>>,
}

impl<'a> Info<'a> {
    /// Collects the fields for the given results.
    pub fn new(results: &'a Results<'a>) -> Self {
        let simulation = &results.simulation;
        let used = &results.simulated.inputs().estimates_used;
        Info {
            profiler: simulation
                .profiler
                .map(|profiler| ProfilerInfo::new(profiler, simulation.cluster)),
            estimates: used.as_ref().map(|used| EstimatesInfo {
                used,
                weeks: results.simulated.weeks(),
            }),
            start: simulation.start,
            corrections: corrections(results),
        }
    }
}

/// The source of the estimates.
#[derive(Serialize)]
struct EstimatesInfo<'a> {
    #[serde(flatten)]
    used: &'a EstimatesUsed,
    /// The estimators learnt for each week, by policy.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    weeks: &'a BTreeMap<&'static str, Vec<Week>>,
}

/// The profiler's settings, with the names of virtual clusters in place of their indices.
#[derive(Serialize)]
struct ProfilerInfo<'a> {
    limit: i64,
    nodes: u32,
    factor: f64,
    lent: BTreeMap<&'a str, u32>,
    elastic: Option<&'a str>,
}

impl<'a> ProfilerInfo<'a> {
    fn new(profiler: &Profiler, cluster: &'a Cluster) -> Self {
        let name = |vc: usize| cluster.vcs[vc].name.as_str();
        let mut lent = BTreeMap::new();
        for &(vc, nodes) in &profiler.lent {
            *lent.entry(name(vc)).or_default() += nodes;
        }
        ProfilerInfo {
            limit: profiler.limit,
            nodes: profiler.nodes,
            factor: profiler.factor,
            lent,
            elastic: profiler.elastic.map(name),
        }
    }
}

/// A job that returned to full speed when its partner on shared GPUs ended. In the original, the job would have stayed
/// slow.
#[derive(Serialize)]
struct CorrectionInfo<'a> {
    policy: &'a str,
    vc: &'a str,
    time: i64,
    ended: &'a str,
    survivor: &'a str,
}

fn corrections<'a>(results: &'a Results<'a>) -> Vec<CorrectionInfo<'a>> {
    let Simulation { trace, cluster, .. } = results.simulation;
    let of_runs = results
        .simulated
        .runs
        .iter()
        .flat_map(|run| run.vcs.iter().map(move |vc| (run, vc)));
    let infos = of_runs.flat_map(|(run, vc)| {
        let id = |job: usize| trace.jobs[vc.jobs[job]].id.as_str();
        vc.schedule
            .corrections
            .iter()
            .map(move |correction| CorrectionInfo {
                policy: run.policy,
                vc: &cluster.vcs[vc.vc].name,
                time: correction.time,
                ended: id(correction.ended),
                survivor: id(correction.survivor),
            })
    });
    infos.collect()
}
