//! `corrected` differs from the original only in the speeds of survivors.

use std::collections::BTreeMap;

use gleaner_core::results::schedule::{Correction, JobRun, Placement, Schedule};
use gleaner_simulate::Request;
use proptest::prelude::*;

use crate::plain::cases::{Case, case};
use crate::product::{policy, schedule};
use crate::same::assert_same;
use crate::town;
use crate::venus::{request, venus};

/// The ends of jobs that ended before the job that had joined them. They are found from the runs
/// alone.
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

/// Fails unless the corrections listed are the schedule's early ends.
fn assert_listed(corrected: &Schedule) {
    let mut listed = corrected.corrections.clone();
    listed.sort_by_key(in_order);
    assert_eq!(listed, early_ends(corrected));
}

/// Fails if the schedules differ before a second.
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

/// From a correction on, a survivor's speed is 1 until another job joins it.
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
        "{} corrections, {} early ends without",
        all.sum::<usize>(),
        early.sum::<usize>()
    );
    assert!(run.vcs.iter().any(|vc| !vc.schedule.corrections.is_empty()));
}
