//! Checks that random traces contain the rare cases that they are meant to test. The cases are
//! counted over a fixed number of traces.

use gleaner_domain::results::policy_run::PolicyRun;
use gleaner_domain::results::schedule::Schedule;
use gleaner_simulate::metrics::summarise;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::plain::cases::{Case, case};
use crate::product::{policy, schedule};
use crate::town::{self, Town, town};

const TRACES: usize = 400;
/// Minimum number of traces in which each case must occur.
const ENOUGH: usize = 4;

/// Fails unless each of the cases described in `things` occurs in at least [`ENOUGH`] of [`TRACES`] values that the
/// strategy generates.
fn assert_shown<T, const N: usize>(
    strategy: impl Strategy<Value = T>,
    things: [&str; N],
    shows: impl Fn(&T) -> [bool; N],
) {
    let mut runner = TestRunner::deterministic();
    let mut counts = [0; N];
    for _ in 0..TRACES {
        let value = strategy.new_tree(&mut runner).unwrap().current();
        for (count, shown) in counts.iter_mut().zip(shows(&value)) {
            *count += usize::from(shown);
        }
    }
    for (thing, count) in things.into_iter().zip(counts) {
        println!("{thing}: {count} of {TRACES}");
        assert!(count >= ENOUGH, "{thing}: only {count} of {TRACES}");
    }
}

fn preempts(case: &Case, name: &str) -> bool {
    let jobs = schedule(case, &policy(name)).unwrap().jobs;
    jobs.iter().any(|job| job.checkpoints > 0)
}

/// Whether Tiresias gives a job so much service that the job moves to the low queue.
fn is_lowered(case: &Case) -> bool {
    let jobs = schedule(case, &policy("tiresias")).unwrap().jobs;
    let mut services = jobs.iter().filter_map(|job| job.priority);
    services.any(|service| service > 18_000.0)
}

/// Whether a node took over the name of another node.
fn renames(schedule: &Schedule) -> bool {
    let start = schedule.nodes.iter().filter(|node| node.from == i64::MIN);
    schedule.scaling.iter().any(|&(_, step)| step < 0)
        && (start.zip(0..)).any(|(node, name)| node.name != name)
}

#[test]
fn generated_cases_cover_rare_events() {
    let things = [
        "jobs share GPUs",
        "a job returns to full speed",
        "a survivor's speed is corrected",
        "nodes are added and removed",
        "a node takes over a name",
        "SRTF preempts a job",
        "Tiresias preempts a job",
        "a job moves to the low queue",
        "EASY backfills a job",
        "a job is submitted before the start",
    ];
    assert_shown(case(), things, |case| {
        let lucid = schedule(case, &policy("lucid")).unwrap();
        let [fifo, easy] = ["fifo", "easy"].map(|name| schedule(case, &policy(name)).unwrap());
        [
            lucid.jobs.iter().any(|job| job.colocated > 0),
            lucid.runs.iter().any(|run| run.speeds.len() > 2),
            !lucid.corrections.is_empty(),
            lucid.scaling.len() > 1,
            renames(&lucid),
            preempts(case, "srtf"),
            preempts(case, "tiresias"),
            is_lowered(case),
            easy.jobs != fifo.jobs,
            case.jobs[0].submit < case.start,
        ]
    });
}

/// The simulation of a town under Lucid.
fn lucid(town: &Town) -> PolicyRun {
    let request = town.request(&policy("lucid"));
    town::run(&town.simulation(true), &[request])
        .unwrap()
        .remove(0)
}

#[test]
fn generated_towns_cover_rare_events() {
    let things = [
        "a node is borrowed",
        "a borrowed node is returned",
        "a borrowed node is never returned",
        "a virtual cluster has no jobs",
        "all jobs of a virtual cluster end in the profiler",
        "a virtual cluster lends its only node",
        "a job waits for the profiler and is then scheduled",
        "a job starts before its profiling ends",
    ];
    assert_shown(town(), things, |town| {
        let run = lucid(town);
        let profiler = run.profiler.as_ref().unwrap();
        let steps = &profiler.schedule.scaling;
        let ended = |vc: usize| run.vcs[vc].jobs.is_empty();
        let early = summarise(&town.trace, &town.cluster, &run).early_starts;
        let has_jobs = |vc: usize| town.trace.jobs.iter().any(|job| job.vc == vc);
        let vcs = 0..run.vcs.len();
        let lends_all = town.case.nodes == 1 && !run.vcs[0].schedule.scaling.is_empty();
        [
            !steps.is_empty(),
            steps.iter().any(|&(_, step)| step < 0),
            steps.len() % 2 == 1,
            vcs.clone().any(|vc| !has_jobs(vc)),
            vcs.clone().any(|vc| has_jobs(vc) && ended(vc)),
            lends_all,
            (run.vcs.iter().flat_map(|vc| &vc.jobs)).any(|&job| profiler.queued(job) > 0),
            early > Some(0),
        ]
    });
}
