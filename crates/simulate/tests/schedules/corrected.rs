//! Tests that a corrected simulation differs from the original in only two ways. When a job ends, its surviving partner
//! always returns to full speed, and profiled jobs join their virtual cluster at the end of their profiling.

use std::collections::BTreeMap;

use gleaner_domain::results::policy_run::PolicyRun;
use gleaner_domain::results::schedule::{Correction, JobRun, Placement, Schedule};
use gleaner_simulate::Request;
use gleaner_simulate::metrics::summarise;
use proptest::prelude::*;

use crate::plain::cases::{Case, case};
use crate::product::{policy, schedule};
use crate::same::assert_same;
use crate::town::{self, Town, town};
use crate::venus::{request, venus};

/// Finds, from the runs alone, the jobs that ended before the job that had joined them.
fn early_ends(schedule: &Schedule) -> Vec<Correction> {
    let mut by_gpus: BTreeMap<Placement, Vec<&JobRun>> = BTreeMap::new();
    let mut ends = Vec::new();
    for run in &schedule.runs {
        let mut gpus = run.placement.clone();
        gpus.sort_unstable();
        let before = by_gpus.entry(gpus).or_default();
        let joined = before.iter().filter(|other| run.from < other.until);
        ends.extend(
            joined
                .filter(|other| other.until < run.until)
                .map(|other| Correction {
                    time: other.until,
                    ended: other.job,
                    survivor: run.job,
                }),
        );
        before.push(run);
    }
    ends.sort_by_key(in_order);
    ends
}

fn in_order(correction: &Correction) -> (i64, usize, usize) {
    (correction.time, correction.ended, correction.survivor)
}

/// Fails unless the schedule lists one correction for each early end, and no other corrections.
fn assert_listed(corrected: &Schedule) {
    let mut listed = corrected.corrections.clone();
    listed.sort_by_key(in_order);
    assert_eq!(listed, early_ends(corrected));
}

/// Fails if the schedules differ before a given second.
fn assert_same_before(second: i64, a: &Schedule, b: &Schedule) {
    let started = |schedule: &Schedule| -> Vec<(usize, i64, Placement)> {
        let before = schedule.runs.iter().filter(|run| run.from < second);
        before
            .map(|run| (run.job, run.from, run.placement.clone()))
            .collect()
    };
    assert_eq!(started(a), started(b));
    for (a, b) in a.jobs.iter().zip(&b.jobs) {
        assert!(
            a == b || (a.end >= second && b.end >= second),
            "{a:?}\n{b:?}"
        );
    }
}

/// Fails unless every survivor runs at speed 1 after its correction, or another job joins it in the same second.
fn assert_full_speed(corrected: &Schedule) {
    for correction in &corrected.corrections {
        let mut runs = corrected.runs.iter();
        let run = runs.find(|run| run.job == correction.survivor).unwrap();
        let speed = run
            .speeds
            .iter()
            .rfind(|&&(time, _)| time <= correction.time)
            .unwrap();
        let joined = corrected
            .runs
            .iter()
            .any(|other| other.from == correction.time && other.placement == run.placement);
        assert!(speed.1 == 1.0 || joined, "{correction:?}");
    }
}

fn lucid(case: &Case, corrected: bool) -> Schedule {
    let mut case = case.clone();
    case.switches.corrected = corrected;
    schedule(&case, &policy("lucid")).unwrap()
}

proptest! {
    #![proptest_config(gleaner_testing::cases(512))]

    #[test]
    fn only_survivors_speeds_differ(case in case()) {
        let (original, corrected) = (lucid(&case, false), lucid(&case, true));
        prop_assert!(original.corrections.is_empty());
        let [first, also] = [&original, &corrected].map(|s| early_ends(s).first().copied());
        prop_assert_eq!(first, also);
        match first {
            None => assert_same(&corrected, &original, "corrected"),
            Some(first) => assert_same_before(first.time, &original, &corrected),
        }
        assert_listed(&corrected);
        assert_full_speed(&corrected);
    }
}

/// Simulates a town under Lucid with the profiler.
fn profiled(town: &Town, corrected: bool) -> PolicyRun {
    let mut request = town.request(&policy("lucid"));
    request.corrected = corrected;
    town::run(&town.simulation(true), &[request])
        .unwrap()
        .remove(0)
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    // At any time between its submission and its end, a job waits, is profiled, or runs.
    #[test]
    fn profiled_jobs_wait_are_profiled_and_run_one_after_the_other(town in town()) {
        let run = profiled(&town, true);
        let profiler = run.profiler.as_ref().unwrap();
        for vc in &run.vcs {
            for ran in &vc.schedule.runs {
                let (job, outcome) = (vc.jobs[ran.job], &vc.schedule.jobs[ran.job]);
                let profiling = profiler.position(job).map_or((0, 0), |at| {
                    (profiler.schedule.jobs[at].start, profiler.schedule.jobs[at].end)
                });
                prop_assert!(ran.from >= profiling.1);
                let jct = outcome.end - town.trace.jobs[job].submit;
                let ran = ran.until - ran.from;
                prop_assert_eq!(outcome.queue + (profiling.1 - profiling.0) + ran, jct);
            }
        }
        let figures = summarise(&town.trace, &town.cluster, &run);
        prop_assert_eq!(figures.early_starts, Some(0));
        prop_assert_eq!(figures.profiled_jobs, Some(profiler.jobs.len() as u64));
    }

    /// In the original simulator, jobs may start before their profiling ends. The profiler's schedule is the same in
    /// both simulations.
    #[test]
    fn early_starts_of_the_original_are_counted(town in town()) {
        let (original, corrected) = (profiled(&town, false), profiled(&town, true));
        prop_assert_eq!(&original.profiler, &corrected.profiler);
        let profiler = original.profiler.as_ref().unwrap();
        let early = original.finished().into_iter().filter(|job| {
            let end = profiler.jobs.iter().position(|&other| other == job.job);
            let end = end.map(|at| profiler.schedule.jobs[at].end);
            !job.in_profiler && end.is_some_and(|end| job.outcome.start < end)
        });
        let figures = summarise(&town.trace, &town.cluster, &original);
        prop_assert_eq!(figures.early_starts, Some(early.count() as u64));
    }
}

// In the published schedule, some jobs start before their profiling ends.
#[test]
fn early_starts_of_the_published_trace() {
    let Some(venus) = venus() else { return };
    let figures = summarise(&venus.trace, &venus.cluster, venus.run("lucid"));
    println!("{:?} of {:?}", figures.early_starts, figures.profiled_jobs);
    assert!(figures.early_starts > Some(0));
}

#[test]
fn all_corrections_of_the_published_trace_are_listed() {
    let Some(venus) = venus() else { return };
    let corrected = Request {
        corrected: true,
        ..request("lucid")
    };
    let run = town::run(&venus.simulation(), &[corrected])
        .unwrap()
        .remove(0);
    for vc in &run.vcs {
        assert_listed(&vc.schedule);
    }
    let all = run.vcs.iter().map(|vc| vc.schedule.corrections.len());
    let early = venus
        .run("lucid")
        .vcs
        .iter()
        .map(|vc| early_ends(&vc.schedule).len());
    println!(
        "{} corrections; {} early ends in the original",
        all.sum::<usize>(),
        early.sum::<usize>()
    );
    assert!(run.vcs.iter().any(|vc| !vc.schedule.corrections.is_empty()));
}
