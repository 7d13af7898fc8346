//! Compares the plain simulator with the published results of three small virtual clusters and of the
//! profiler (golden values).

use std::sync::OnceLock;

use gleaner_domain::results::schedule::Schedule;
use gleaner_simulate::policies::PolicyEntry;

use super::sound::{assert_sound, promise};
use super::{Placer, Profiled, Profiler, Switches, World, run};
use crate::product::{policy, rule};
use crate::published::{assert_minutes, outcome, outcomes};
use crate::table::Table;
use crate::venus::{Venus, venus};

const VCS: [&str; 3] = ["vcvlY", "vchbv", "vcgkz"];
/// The virtual clusters with published minute-by-minute tables.
const BY_MINUTE: [&str; 2] = ["vcvlY", "vchbv"];

/// The input of a simulation with all jobs of the trace.
fn world(venus: &Venus) -> World<'_> {
    World {
        jobs: venus.trace.jobs.iter().collect(),
        entries: venus.trace.jobs.iter().map(|job| job.submit).collect(),
        queued: vec![0; venus.trace.jobs.len()],
        nodes: 0,
        gpus_per_node: 8,
        start: venus.start,
        placer: Placer::Consolidate,
        estimates: &venus.ebm,
        forecast: &venus.forecast,
        packing: &venus.packing,
    }
}

/// The result of the plain profiler, computed once.
fn profiled(venus: &Venus) -> &'static Profiled {
    static PROFILED: OnceLock<Profiled> = OnceLock::new();
    let profiler = Profiler {
        nodes: 2,
        limit: 200,
        most_gpus: 8,
        elastic: true,
    };
    PROFILED.get_or_init(|| profiler.profile(&world(venus)))
}

/// Simulates virtual clusters and compares their jobs with a reference.
fn assert_vcs(venus: &Venus, vcs: &[&str], reference: &str, switches: &Switches) -> Vec<Schedule> {
    let published = outcomes(&Table::read(&format!("{reference}_jobs")));
    let policy = policy(reference.split('_').next().unwrap());
    let simulated = vcs.iter().map(|vc| {
        let (world, schedule) = simulate_vc(venus, vc, &policy, switches);
        for (job, found) in world.jobs.iter().zip(&schedule.jobs) {
            assert_eq!(
                outcome(found),
                published[&job.id],
                "{reference}, job {}",
                job.id
            );
        }
        assert_sound(&schedule, &world, promise(policy.name));
        schedule
    });
    simulated.collect()
}

fn simulate_vc<'a>(
    venus: &'a Venus,
    vc: &str,
    policy: &PolicyEntry,
    switches: &Switches,
) -> (World<'a>, Schedule) {
    let mut world = world(venus);
    if policy.profiled {
        world = profiled(venus).rest(&world, false);
    }
    let index = venus.cluster.vc(vc).unwrap();
    let world = world.of_vc(index, venus.cluster.vcs[index].nodes);
    let schedule = run(&world, rule(policy, switches).as_mut());
    (world, schedule)
}

#[test]
fn small_virtual_clusters_are_as_published() {
    let Some(venus) = venus() else { return };
    for policy in ["fifo", "sjf", "qssf", "srtf", "tiresias", "lucid"] {
        let schedules = assert_vcs(venus, &VCS, policy, &Switches::default());
        for (vc, schedule) in BY_MINUTE.iter().zip(&schedules) {
            assert_minutes(schedule, &format!("{policy}_{vc}_seq"));
        }
    }
}

#[test]
fn small_virtual_clusters_without_parts_of_lucid_are_as_published() {
    let Some(venus) = venus() else { return };
    let throughput = Switches {
        without_throughput: true,
        ..Switches::default()
    };
    let estimates = Switches {
        without_estimates: true,
        ..Switches::default()
    };
    assert_vcs(venus, &VCS, "lucid_no_throughput", &throughput);
    assert_vcs(venus, &VCS, "lucid_no_estimate", &estimates);
}

/// Tests the virtual cluster that lends a node whenever the profiler borrows one. Its nodes are renamed as a result.
#[test]
fn the_echo_is_as_published() {
    let Some(venus) = venus() else { return };
    let switches = Switches {
        echo: profiled(venus).loans(),
        ..Switches::default()
    };
    assert_vcs(venus, &["vcYVn"], "lucid", &switches);
}

/// Compares the plain profiler with the product's profiler, which another test compares with the
/// published results.
#[test]
fn the_plain_profiler_is_as_published() {
    let Some(venus) = venus() else { return };
    let plain = profiled(venus);
    let product = venus.run("lucid").profiler.as_ref().unwrap();
    assert_eq!(plain.jobs, product.jobs);
    crate::same::assert_same(&plain.schedule, &product.schedule, "profiler");
}
