//! Tests that the files written for random traces pass `gleaner check`, which is independent of the engine.

use std::path::Path;

use gleaner_check::Findings;
use gleaner_check::simulate::{self as check, Given, Profiling, RunFile};
use gleaner_domain::Unobserved;
use gleaner_domain::inputs::{Estimates, Forecast, Packing};
use gleaner_domain::results::policy_run::PolicyRun;
use gleaner_domain::results::run::Seconds;
use gleaner_domain::results::simulate::{Assumptions, PolicyFigures};
use gleaner_runs::read as runs;
use gleaner_runs::run::{End, RunDir};
use gleaner_runs::simulate as tables;
use gleaner_runs::simulate::{Interval, SimulatedTrace};
use gleaner_simulate::metrics::summarise;
use gleaner_simulate::{Request, policies};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::plain::Placer;
use crate::product;
use crate::town::{Town, run, town};

proptest! {
    #![proptest_config(gleaner_testing::slow_cases(32, 300))]

    #[test]
    fn all_that_is_written_passes_the_check(
        town in town(),
        profiled: bool,
        logged in prop_oneof![3 => Just(false), 1 => Just(true)],
    ) {
        let findings = written_and_checked(&town, profiled, logged);
        prop_assert_eq!(findings.wrong_count, 0, "{}", findings);
        prop_assert!(findings.verified > 100, "{}", findings);
    }
}

/// Simulates all policies, writes the tables, then reads and checks them.
fn written_and_checked(town: &Town, profiled: bool, logged: bool) -> Findings {
    let simulation = town.simulation(profiled);
    let named = |name, corrected| Request {
        name,
        policy: product::policy("lucid"),
        corrected,
    };
    let others = policies::ALL.iter().filter(|policy| !policy.profiled);
    let mut requests: Vec<Request<'_>> = others.map(|policy| town.request(policy)).collect();
    requests.extend([named("lucid", false), named("lucid_corrected", true)]);
    let ran = run(&simulation, &requests).unwrap();
    let figures = ran.iter().zip(&requests).map(|(run, request)| {
        let is_lucid = request.policy.profiled;
        let is_blind = is_lucid && town.case.switches.without_estimates;
        let known = Some(request.policy.durations).filter(|_| !is_blind);
        PolicyFigures {
            assumptions: Assumptions {
                durations: known.unwrap_or_default(),
                corrected: is_lucid.then_some(request.corrected),
                ..Assumptions::default()
            },
            ..summarise(&town.trace, &town.cluster, run)
        }
    });
    let figures: Vec<PolicyFigures> = figures.collect();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run");
    let run_file = write(town, &ran, &figures, (profiled, logged), &path);
    let info = runs::info(&path).unwrap();
    let profiling = Profiling {
        limit: town.profiler.limit,
        nodes: town.profiler.nodes,
        factor: town.profiler.factor,
        lent: town.profiler.lent.clone(),
        elastic: town.profiler.elastic,
    };
    let switches = &town.case.switches;
    let given = Given {
        trace: &town.trace,
        cluster: &town.cluster,
        start: town.case.start,
        placer: match town.case.placer {
            Placer::Consolidate => check::Placer::Consolidate,
            Placer::ConsolidateFirst => check::Placer::ConsolidateFirst,
            Placer::Random => check::Placer::Random,
        },
        packing: Some(&town.case.packing as &dyn Packing),
        forecast: Some(&town.case.forecast as &dyn Forecast),
        estimates: Some(&town.case.estimates as &dyn Estimates),
        estimates_text: None,
        ignores_estimates: switches.without_estimates,
        profiler: Some(&profiling).filter(|_| profiled),
        ignores_scores: switches.without_packing,
        never_shares: switches.without_throughput,
        is_corrected: false,
    };
    let names: Vec<&'static str> = ran.iter().map(|run| run.policy).collect();
    let run_file = RunFile {
        written: &run_file,
        estimates: &Value::Null,
        settings: Vec::new(),
        policies: names.iter().map(|name| (*name).to_owned()).collect(),
        is_complete: true,
    };
    check::simulation(&info, &given, &names, &run_file, &Unobserved).unwrap()
}

/// Writes a run directory. Returns the additional fields of its `run.json`.
fn write(
    town: &Town,
    ran: &[PolicyRun],
    figures: &[PolicyFigures],
    (profiled, logged): (bool, bool),
    path: &Path,
) -> Value {
    let directory = RunDir::open(path, "simulate", &json!({"logs": logged})).unwrap();
    let simulated = SimulatedTrace {
        trace: &town.trace,
        cluster: &town.cluster,
        placer: product::placer(town.case.placer).original_name(),
        csv: false,
        interval: Interval::default(),
    };
    for run in ran {
        tables::write_run(&directory, simulated, run).unwrap();
        if logged {
            let packs = run.policy.starts_with("lucid");
            let packing = packs.then_some(&town.case.packing as &dyn Packing);
            tables::write_logs(&directory, simulated, run, packing).unwrap();
        }
    }
    if let Some(profiler) = ran.iter().find_map(|run| run.profiler.as_ref()) {
        tables::write_profiler(&directory, simulated, profiler).unwrap();
    }
    let entries: Vec<_> = ran.iter().map(|run| run.policy).zip(figures).collect();
    tables::write_results(&directory, simulated, &entries).unwrap();
    let more = more(town, ran, profiled);
    let end = End {
        sources: &[],
        complete: true,
        seconds: Seconds::default(),
    };
    directory.finish_with(&end, &more).unwrap();
    more
}

/// The fields of `run.json` that only simulations have.
fn more(town: &Town, ran: &[PolicyRun], profiled: bool) -> Value {
    let name = |vc: usize| town.cluster.vcs[vc].name.clone();
    let profiler = &town.profiler;
    let lent = profiler.lent.iter();
    let lent: serde_json::Map<String, Value> =
        lent.map(|&(vc, nodes)| (name(vc), nodes.into())).collect();
    let vcs = ran
        .iter()
        .flat_map(|run| run.vcs.iter().map(move |vc| (run.policy, vc)));
    let corrections = vcs.flat_map(|(policy, vc)| {
        let id = |job: usize| town.trace.jobs[vc.jobs[job]].id.clone();
        let corrections = vc.schedule.corrections.iter();
        corrections.map(move |correction| {
            json!({
                "policy": policy,
                "vc": name(vc.vc),
                "time": correction.time,
                "ended": id(correction.ended),
                "survivor": id(correction.survivor),
            })
        })
    });
    let corrections: Vec<Value> = corrections.collect();
    let profiler = profiled.then(|| {
        json!({
            "limit": profiler.limit,
            "nodes": profiler.nodes,
            "factor": profiler.factor,
            "lent": lent,
            "elastic": profiler.elastic.map(name),
        })
    });
    json!({
        "profiler": profiler,
        "estimates": null,
        "start": town.case.start,
        "corrections": corrections,
    })
}
