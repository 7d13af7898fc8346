//! Properties that hold for every search.

use std::collections::{BTreeMap, BTreeSet};

use gleaner_search::{Algorithm, Job, MAX_JOBS, MAX_RUNGS, Next, NoJob, Plan, Verdict};
use proptest::prelude::*;

use crate::workers::{Log, loss, run};

fn algorithms() -> impl Strategy<Value = Algorithm> {
    proptest::sample::select(Algorithm::ALL.to_vec())
}

/// Generates settings that are often valid.
fn sensible() -> impl Strategy<Value = Plan> {
    let resources = (0.001_f64..4.0, 1.0_f64..300.0);
    (algorithms(), 1_u32..400, 2_u32..6, resources).prop_map(
        |(algorithm, trials, eta, (least, times))| Plan {
            algorithm,
            trials: (!algorithm.derives_trials()).then_some(trials),
            eta,
            min_resource: least,
            max_resource: least * times,
        },
    )
}

/// Generates arbitrary settings, most of which are invalid.
fn wild() -> impl Strategy<Value = Plan> {
    let trials = proptest::option::of(any::<u32>().prop_map(|bits| bits >> (bits % 32)));
    let eta = any::<u32>().prop_map(|bits| bits >> (bits % 32));
    let resource = || {
        prop_oneof![
            proptest::num::f64::ANY,
            0.0..1000.0,
            Just(f64::MAX),
            Just(5e-324)
        ]
    };
    (algorithms(), trials, eta, resource(), resource()).prop_map(
        |(algorithm, trials, eta, min_resource, max_resource)| Plan {
            algorithm,
            trials,
            eta,
            min_resource,
            max_resource,
        },
    )
}

fn plans() -> impl Strategy<Value = Plan> {
    prop_oneof![3 => sensible(), 1 => wild()]
}

fn check_rungs(plan: &Plan) {
    let rungs = plan.rungs();
    assert!(!rungs.is_empty() && rungs.len() <= MAX_RUNGS);
    assert!(rungs[0] > 0.0);
    assert!(rungs.is_sorted_by(|low, high| low < high), "{rungs:?}");
    assert_eq!(rungs.last(), Some(&plan.max_resource));
    if plan.algorithm != Algorithm::Random {
        // The smallest numbers are excluded, because rounding changes them by a large relative amount.
        assert!(rungs[0] >= plan.min_resource * (1.0 - 2e-9) || plan.min_resource < 1e-300);
    }
    let mut jobs = 0;
    for bracket in plan.brackets() {
        assert!(
            rungs.ends_with(
                &bracket
                    .rungs
                    .iter()
                    .map(|rung| rung.resource)
                    .collect::<Vec<_>>()
            )
        );
        let counts: Vec<u32> = bracket.rungs.iter().map(|rung| rung.trials).collect();
        let next = |count: u32| match plan.algorithm {
            Algorithm::Median | Algorithm::Pbt => count,
            _ => count / plan.eta,
        };
        assert!(counts.windows(2).all(|pair| pair[1] == next(pair[0])));
        assert!(plan.algorithm == Algorithm::Asha || counts.iter().all(|&count| count > 0));
        jobs += u64::from(counts[0]) * counts.len() as u64;
    }
    assert!(jobs <= MAX_JOBS);
}

/// Checks that each job of a trial continues the trial's previous job. Returns the number of jobs of
/// each trial.
fn check_jobs(plan: &Plan, log: &Log) -> BTreeMap<u32, usize> {
    let jobs = &log.jobs;
    let mut last: BTreeMap<u32, Job> = BTreeMap::new();
    let mut counts = BTreeMap::new();
    for job in jobs {
        assert!(job.from < job.to);
        *counts.entry(job.trial).or_insert(0) += 1;
        let before = last.insert(job.trial, *job);
        let start = match log.search.parent(job.trial) {
            // A copy continues from a measured rung of its parent.
            Some(parent) => jobs
                .iter()
                .find(|of| (of.trial, of.to) == (parent.trial, parent.resource))
                .map(|of| (of.to, of.rung + 1))
                .unwrap(),
            None => (0.0, 0),
        };
        let expected = before.map_or(start, |before| (before.to, before.rung + 1));
        assert_eq!((job.from, job.rung), expected);
        assert!(before.is_none_or(|before| before.bracket == job.bracket));
        assert!(job.to <= plan.max_resource);
        if before.is_none() {
            assert_eq!(
                job.trial as usize,
                last.len() - 1,
                "trials start in the order of their numbers"
            );
        }
    }
    counts
}

/// Checks that every started trial is in exactly one state. Returns the finished trials and the stopped
/// trials.
fn check_states(plan: &Plan, log: &Log, started: &BTreeSet<u32>) -> (usize, usize) {
    let mut states: Vec<u32> = log.search.outstanding().map(|job| job.trial).collect();
    states.extend(log.search.unpromoted());
    let mut due = BTreeSet::new();
    let (mut finished, mut stopped) = (0, 0);
    for verdict in &log.verdicts {
        match *verdict {
            Verdict::Promoted { trial, rung, .. } => {
                let job = |job: &Job| (job.trial, job.rung) == (trial, rung);
                if !log.jobs.iter().any(job) {
                    due.insert(trial);
                }
            }
            Verdict::Stopped { trial } => {
                stopped += 1;
                states.push(trial);
            }
            Verdict::Finished { trial } => {
                finished += 1;
                states.push(trial);
                let last = log.jobs.iter().rfind(|job| job.trial == trial).unwrap();
                assert_eq!(last.to, plan.max_resource);
            }
        }
    }
    states.extend(due);
    let distinct: BTreeSet<u32> = states.iter().copied().collect();
    assert_eq!(states.len(), distinct.len(), "a trial is in two states");
    assert_eq!(distinct, *started);
    (finished, stopped)
}

fn check_end(plan: &Plan, log: &mut Log, started: &BTreeSet<u32>) {
    for _ in 0..3 {
        assert_eq!(log.search.next(), Next::Done);
    }
    for trial in [0, 1, u32::MAX] {
        assert_eq!(log.search.report(trial, 0.0), Err(NoJob { trial }));
    }
    assert_eq!(log.search.next(), Next::Done);
    assert_eq!(log.ended, log.jobs.len());
    let brackets = plan.brackets();
    let trials: u32 = brackets.iter().map(|bracket| bracket.rungs[0].trials).sum();
    match plan.algorithm {
        Algorithm::Pbt => assert!(started.len() >= trials as usize),
        _ => assert_eq!(started.len(), trials as usize),
    }
    for bracket in brackets {
        for (rung, planned) in (0..).zip(bracket.rungs) {
            let found = log.trials(bracket.number, rung).len();
            let planned = planned.trials as usize;
            match plan.algorithm {
                Algorithm::Asha => assert!(found >= planned),
                Algorithm::Median | Algorithm::Pbt => assert!(found <= planned),
                _ => assert_eq!(found, planned),
            }
        }
    }
    let (finished, stopped) = check_states(plan, log, started);
    let unpromoted = log.search.unpromoted().len();
    assert!(plan.algorithm == Algorithm::Asha || unpromoted == 0);
    assert_eq!(finished + stopped + unpromoted, started.len());
    assert_eq!(log.search.best().is_some(), finished > 0);
}

proptest! {
    #![proptest_config(gleaner_testing::cases(512))]

    #[test]
    fn every_trial_ends_in_one_state_and_no_job_comes_twice(
        plan in plans(),
        workers in 1_usize..50,
        seeds: (u64, u64),
        kinds in 1_u32..1000,
        cut in 0_usize..200,
    ) {
        if let Err(faults) = plan.validate() {
            let fields = ["trials", "eta", "min_resource", "max_resource"];
            prop_assert!(!faults.is_empty());
            prop_assert!(faults.iter().all(|fault| fields.contains(&fault.field.as_str())));
            // Rungs and brackets of an invalid plan are meaningless, but computing them must not panic.
            prop_assert!(plan.rungs().len() <= MAX_RUNGS + 1);
            prop_assert!(plan.brackets().len() <= MAX_RUNGS + 1);
            return Ok(());
        }
        check_rungs(&plan);
        let jobs: u64 = plan.brackets().iter().map(|b| u64::from(b.rungs[0].trials) * b.rungs.len() as u64).sum();
        if jobs > 4000 {
            return Ok(());
        }
        for most in [usize::MAX, cut] {
            let mut log = run(&plan, workers, seeds.0, &|job| loss(seeds.1, job.trial, job.rung, kinds), most);
            prop_assert!(log.jobs.len() as u64 <= jobs);
            let started: BTreeSet<u32> = check_jobs(&plan, &log).into_keys().collect();
            check_states(&plan, &log, &started);
            if most == usize::MAX {
                check_end(&plan, &mut log, &started);
            }
        }
    }

    #[test]
    fn a_report_without_a_job_changes_nothing(plan in sensible(), seed: u64, cut in 0_usize..100, trial: u32) {
        if plan.validate().is_err() {
            return Ok(());
        }
        // Both searches receive the same calls, so they are in the same state.
        let same = || run(&plan, 4, seed, &|job| loss(seed, job.trial, job.rung, 50), cut);
        let (mut log, mut other) = (same(), same().search);
        let idle = |search: &gleaner_search::Search, trial| search.outstanding().all(|job| job.trial != trial);
        for trial in [trial, trial % 50] {
            if idle(&log.search, trial) {
                prop_assert_eq!(log.search.report(trial, -1e9), Err(NoJob { trial }));
            }
        }
        prop_assert_eq!(log.search.best(), other.best());
        prop_assert_eq!(log.search.unpromoted(), other.unpromoted());
        for _ in 0..20 {
            prop_assert_eq!(log.search.next(), other.next());
        }
    }
}
