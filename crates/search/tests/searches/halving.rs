//! Compares successive halving and Hyperband with the papers' algorithms.

use std::collections::BTreeSet;

use gleaner_search::{Algorithm, Next, NoJob, Plan, Search, Verdict};
use proptest::prelude::*;

use crate::naive;
use crate::workers::{Log, loss, run};

fn set(trials: &[u32]) -> BTreeSet<u32> {
    trials.iter().copied().collect()
}

/// The trials in `of` that were promoted to `rung`.
fn promoted(log: &Log, rung: u32, of: &BTreeSet<u32>) -> Vec<u32> {
    let to = |verdict: &Verdict| match *verdict {
        Verdict::Promoted {
            trial, rung: to, ..
        } if to == rung && of.contains(&trial) => Some(trial),
        _ => None,
    };
    log.verdicts.iter().filter_map(to).collect()
}

/// Compares a bracket's jobs and verdicts in a log with the expected trials of each rung.
fn compare(log: &Log, bracket: u32, rungs: &[Vec<u32>]) {
    for (i, trials) in rungs.iter().enumerate() {
        let i = i as u32;
        // The jobs are handed out in the order of losses, best trial first.
        assert_eq!(
            log.trials(bracket, i),
            *trials,
            "bracket {bracket}, rung {i}"
        );
        if i > 0 {
            assert_eq!(promoted(log, i, &set(&rungs[0])), *trials);
        }
    }
    let last = rungs.last().unwrap();
    for &trial in &rungs[0] {
        let finished = log.verdicts.contains(&Verdict::Finished { trial });
        let stopped = log.verdicts.contains(&Verdict::Stopped { trial });
        assert_eq!(finished, last.contains(&trial));
        assert_eq!(stopped, !finished);
    }
}

/// The trial with the lowest final loss among the finished trials, and this loss. In a tie, the lowest trial number
/// wins.
fn least(finished: &[u32], loss: impl Fn(u32) -> f64) -> Option<(u32, f64)> {
    let mut best: Option<(u32, f64)> = None;
    for &trial in &set(finished) {
        let loss = if loss(trial).is_finite() {
            loss(trial)
        } else {
            f64::INFINITY
        };
        if best.is_none_or(|(_, least)| loss < least) {
            best = Some((trial, loss));
        }
    }
    best
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    #[test]
    fn successive_halving_is_that_of_the_paper(
        eta in 2_u32..5,
        steps in 0_u32..4,
        more in 0_u32..40,
        workers in 1_usize..30,
        seeds: (u64, u64),
        kinds in 1_u32..50,
    ) {
        let trials = eta.pow(steps) + more;
        let plan = Plan {
            trials: Some(trials),
            eta,
            ..Plan::new(Algorithm::SuccessiveHalving, f64::from(eta.pow(steps)))
        };
        let log = run(&plan, workers, seeds.0, &|job| loss(seeds.1, job.trial, job.rung, kinds), usize::MAX);
        let at = |trial: u32, i: usize| loss(seeds.1, trial, i as u32, kinds);
        let rungs = naive::successive_halving((0..trials).collect(), steps as usize + 1, eta as usize, &at);
        compare(&log, 0, &rungs);
        prop_assert_eq!(log.search.best(), least(&rungs[steps as usize], |trial| at(trial, steps as usize)));
        prop_assert!(log.search.unpromoted().is_empty());
    }

    #[test]
    fn hyperband_is_that_of_the_paper(
        eta in 2_u32..5,
        r in 1_u32..6,
        times in 1_u32..70,
        extra in 0_u32..6,
        workers in 1_usize..60,
        seeds: (u64, u64),
        kinds in 1_u32..50,
    ) {
        let most = r * times + extra;
        let plan = Plan {
            eta,
            min_resource: f64::from(r),
            ..Plan::new(Algorithm::Hyperband, f64::from(most))
        };
        let at = |trial: u32, steps_to_the_end: usize| loss(seeds.1, trial, steps_to_the_end as u32, kinds);
        let of = |job: &gleaner_search::Job| at(job.trial, (job.bracket - job.rung) as usize);
        let log = run(&plan, workers, seeds.0, &of, usize::MAX);
        let brackets = naive::hyperband(r as usize, most as usize, eta as usize, &at);
        prop_assert_eq!(brackets.len(), plan.brackets().len());
        let mut finished = Vec::new();
        for ((s, rungs), planned) in brackets.iter().zip(plan.brackets()) {
            prop_assert_eq!(*s, planned.number);
            let sizes: Vec<(f64, u32)> = rungs.iter().map(|(at, trials)| (*at, trials.len() as u32)).collect();
            let planned: Vec<(f64, u32)> = planned.rungs.iter().map(|rung| (rung.resource, rung.trials)).collect();
            prop_assert_eq!(sizes, planned);
            let trials: Vec<Vec<u32>> = rungs.iter().map(|(_, trials)| trials.clone()).collect();
            compare(&log, *s, &trials);
            finished.extend(trials.last().unwrap().clone());
            for job in log.jobs.iter().filter(|job| job.bracket == *s) {
                prop_assert_eq!(job.to, rungs[job.rung as usize].0);
            }
        }
        prop_assert_eq!(log.search.best(), least(&finished, |trial| at(trial, 0)));
    }
}

/// Compares a search with Table 1 of Li et al. 2020: nine trials, eta 3, resources from 1 to 9.
#[test]
fn a_small_bracket_by_hand() {
    let plan = Plan {
        trials: Some(9),
        ..Plan::new(Algorithm::SuccessiveHalving, 9.0)
    };
    let mut search = Search::new(plan).unwrap();
    for trial in 0..9 {
        let Next::Job(job) = search.next() else {
            panic!("trial {trial} does not start")
        };
        assert_eq!(
            (job.trial, job.rung, job.from, job.to),
            (trial, 0, 0.0, 1.0)
        );
    }
    assert_eq!(search.next(), Next::Wait);
    // Trial 8 is the best, followed by trial 7, and so on.
    for trial in (0..8).rev() {
        assert_eq!(search.report(trial, -f64::from(trial)), Ok(vec![]));
        assert_eq!(search.next(), Next::Wait);
    }
    assert_eq!(search.unpromoted(), [0, 1, 2, 3, 4, 5, 6, 7]);
    let mut expected: Vec<Verdict> = [8, 7, 6]
        .map(|trial| Verdict::Promoted {
            trial,
            rung: 1,
            to: 3.0,
        })
        .to_vec();
    expected.extend([5, 4, 3, 2, 1, 0].map(|trial| Verdict::Stopped { trial }));
    assert_eq!(search.report(8, -8.0), Ok(expected));
    for trial in [8, 7, 6] {
        let Next::Job(job) = search.next() else {
            panic!("trial {trial} does not go on")
        };
        assert_eq!(
            (job.trial, job.rung, job.from, job.to),
            (trial, 1, 1.0, 3.0)
        );
    }
    // Among trials with equal losses, the trial with the lowest number continues.
    for trial in [8, 6] {
        assert_eq!(search.report(trial, 0.5), Ok(vec![]));
    }
    let expected = vec![
        Verdict::Promoted {
            trial: 6,
            rung: 2,
            to: 9.0,
        },
        Verdict::Stopped { trial: 7 },
        Verdict::Stopped { trial: 8 },
    ];
    assert_eq!(search.report(7, 0.5), Ok(expected));
    let Next::Job(job) = search.next() else {
        panic!("trial 6 does not go on")
    };
    assert_eq!((job.trial, job.rung, job.from, job.to), (6, 2, 3.0, 9.0));
    assert_eq!(search.outstanding().collect::<Vec<_>>(), [job]);
    assert_eq!(search.best(), None);
    assert_eq!(
        search.report(6, 0.25),
        Ok(vec![Verdict::Finished { trial: 6 }])
    );
    assert_eq!(search.best(), Some((6, 0.25)));
    assert_eq!(search.next(), Next::Done);
    assert_eq!(search.report(6, 0.0), Err(NoJob { trial: 6 }));
    assert_eq!(search.best(), Some((6, 0.25)));
}

#[test]
fn the_next_bracket_starts_while_one_waits() {
    let plan = Plan::new(Algorithm::Hyperband, 3.0);
    let mut search = Search::new(plan).unwrap();
    let mut jobs = Vec::new();
    while let Next::Job(job) = search.next() {
        jobs.push((job.bracket, job.trial, job.to));
    }
    assert_eq!(
        jobs,
        [
            (1, 0, 1.0),
            (1, 1, 1.0),
            (1, 2, 1.0),
            (0, 3, 3.0),
            (0, 4, 3.0)
        ]
    );
    assert_eq!(search.next(), Next::Wait);
}

#[test]
fn random_search_trains_every_trial_to_the_end() {
    let plan = Plan {
        trials: Some(20),
        ..Plan::new(Algorithm::Random, 50.0)
    };
    let log = run(&plan, 3, 1, &|job| loss(2, job.trial, 0, 9), usize::MAX);
    assert_eq!(log.trials(0, 0), (0..20).collect::<Vec<_>>());
    assert!(log.jobs.iter().all(|job| (job.from, job.to) == (0.0, 50.0)));
    assert_eq!(log.verdicts.len(), 20);
    let all: Vec<u32> = (0..20).collect();
    assert_eq!(log.search.best(), least(&all, |trial| loss(2, trial, 0, 9)));
}
