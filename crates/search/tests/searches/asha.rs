//! Compares ASHA with the paper's Algorithm 2, job by job.

use gleaner_search::{Algorithm, Job, Next, Plan, Search, Verdict};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::naive;
use crate::workers::loss;

fn plan(eta: u32, steps: u32, trials: u32) -> Plan {
    Plan {
        trials: Some(trials),
        eta,
        ..Plan::new(Algorithm::Asha, f64::from(eta.pow(steps)))
    }
}

/// Requests a job from both implementations, and compares the jobs.
fn both(search: &mut Search, plain: &mut naive::Asha, outstanding: usize) -> Option<Job> {
    match (search.next(), plain.get_job()) {
        (Next::Job(job), expected) => {
            assert_eq!(Some((job.trial, job.rung)), expected);
            Some(job)
        }
        (Next::Wait, expected) => {
            assert_eq!(expected, None);
            assert!(outstanding > 0);
            None
        }
        (Next::Done, expected) => {
            assert_eq!(expected, None);
            assert_eq!(outstanding, 0);
            None
        }
    }
}

proptest! {
    #![proptest_config(gleaner_testing::cases(512))]

    /// ASHA hands out the same jobs as the paper's algorithm, regardless of the order in which jobs are requested and
    /// losses are reported.
    #[test]
    fn asha_is_that_of_the_paper(
        eta in 2_u32..5,
        steps in 0_u32..5,
        trials in 1_u32..120,
        seeds: (u64, u64),
        kinds in 1_u32..200,
        asking in 0.05_f64..0.95,
    ) {
        let mut random = ChaCha8Rng::seed_from_u64(seeds.0);
        let mut search = Search::new(plan(eta, steps, trials)).unwrap();
        let mut plain = naive::Asha::new(steps as usize + 1, eta as usize, trials);
        let mut outstanding: Vec<Job> = Vec::new();
        loop {
            if outstanding.is_empty() || random.random_bool(asking) {
                match both(&mut search, &mut plain, outstanding.len()) {
                    Some(job) => outstanding.push(job),
                    None if outstanding.is_empty() => break,
                    None => {}
                }
            } else {
                let job = outstanding.swap_remove(random.random_range(0..outstanding.len()));
                let loss = loss(seeds.1, job.trial, job.rung, kinds);
                plain.report(job.trial, job.rung, loss);
                let finished = vec![Verdict::Finished { trial: job.trial }];
                let expected = if job.rung == steps { finished } else { vec![] };
                prop_assert_eq!(search.report(job.trial, loss), Ok(expected));
            }
        }
        prop_assert_eq!(search.unpromoted(), plain.unpromoted());
    }
}

/// Compares a search of nine trials on one worker with a sequence of jobs worked out by hand.
#[test]
fn a_small_search_by_hand() {
    let losses = [5.0, 3.0, 4.0, 6.0, 1.0, 7.0, 8.0, 2.0, 9.0];
    let mut search = Search::new(plan(3, 2, 9)).unwrap();
    let mut jobs = Vec::new();
    while let Next::Job(job) = search.next() {
        jobs.push((job.trial, job.rung));
        search
            .report(job.trial, losses[job.trial as usize])
            .unwrap();
    }
    let expected = [
        (0, 0),
        (1, 0),
        (2, 0),
        // Trial 1 is the best of three.
        (1, 1),
        (3, 0),
        (4, 0),
        // Trial 4 is the best of five.
        (4, 1),
        (5, 0),
        (6, 0),
        (7, 0),
        // Trial 7 is the second best of eight. On the rung above, trial 4 is the best of three.
        (7, 1),
        (4, 2),
        (8, 0),
    ];
    assert_eq!(jobs, expected);
    assert_eq!(search.next(), Next::Done);
    assert_eq!(search.best(), Some((4, 1.0)));
    assert_eq!(search.unpromoted(), [0, 1, 2, 3, 5, 6, 7, 8]);
}

fn started(search: &mut Search) -> (u32, u32) {
    match search.next() {
        Next::Job(job) => (job.trial, job.rung),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_better_result_takes_the_place_of_one_not_yet_promoted() {
    let mut search = Search::new(plan(2, 2, 6)).unwrap();
    for trial in 0..4 {
        assert_eq!(started(&mut search), (trial, 0));
    }
    search.report(0, 5.0).unwrap();
    search.report(1, 6.0).unwrap();
    // Trial 0 is the best of two, but not of three.
    search.report(2, 1.0).unwrap();
    assert_eq!(started(&mut search), (2, 1));
    assert_eq!(started(&mut search), (4, 0));
    // Trial 0 is the second best of four, so it is in the top half again.
    search.report(3, 7.0).unwrap();
    assert_eq!(started(&mut search), (0, 1));
    assert_eq!(started(&mut search), (5, 0));
    assert_eq!(search.next(), Next::Wait);
}

#[test]
fn too_few_trials_may_end_without_a_finished_one() {
    let mut search = Search::new(plan(3, 2, 2)).unwrap();
    while let Next::Job(job) = search.next() {
        search.report(job.trial, 1.0).unwrap();
    }
    assert_eq!(search.best(), None);
    assert_eq!(search.unpromoted(), [0, 1]);
}
