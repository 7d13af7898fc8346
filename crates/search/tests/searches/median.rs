//! Tests of median stopping.

use gleaner_search::{Algorithm, Job, Next, Plan, Search, Verdict};

fn plan(trials: u32) -> Plan {
    Plan {
        trials: Some(trials),
        min_resource: 2.0,
        ..Plan::new(Algorithm::Median, 5.0)
    }
}

/// Trains the next trial until it is stopped or finished, with these losses at its rungs. Returns whether it finished.
fn train(search: &mut Search, losses: [f64; 3]) -> bool {
    let Next::Job(mut job) = search.next() else {
        panic!("there is no job");
    };
    loop {
        let verdicts = search.report(job.trial, losses[job.rung as usize]).unwrap();
        match (verdicts.as_slice(), search.resume(job.trial)) {
            ([Verdict::Promoted { trial, rung, to }], Some(next)) => {
                assert_eq!((*trial, *rung, *to), (job.trial, next.rung, next.to));
                assert_eq!((next.from, next.rung), (job.to, job.rung + 1));
                job = next;
            }
            ([Verdict::Stopped { trial }], None) if *trial == job.trial => return false,
            ([Verdict::Finished { trial }], None) if *trial == job.trial => return true,
            found => panic!("{found:?}"),
        }
    }
}

#[test]
fn a_trial_above_the_median_of_the_averages_is_stopped() {
    let mut search = Search::new(plan(5)).unwrap();
    assert!(train(&mut search, [4.0, 2.0, 1.0]));
    // The running averages of trial 0 are 4, 3 and 7/3.
    assert!(train(&mut search, [4.0, 3.0, 2.0]));
    // The running averages of trial 1 are 4, 3.5 and 3. At the first rung, 5 is above the median, 4.
    assert!(!train(&mut search, [5.0, 0.0, 0.0]));
    // The averages at the second rung are 3 and 3.5, with the median 3.25. The best loss counts, not the last.
    assert!(train(&mut search, [3.0, 9.0, 2.5]));
    // Now the averages at the second rung are 3, 3.5 and 6, with the median 3.5.
    assert!(!train(&mut search, [4.0, 3.8, 0.0]));
    assert_eq!(search.next(), Next::Done);
    assert_eq!(search.best(), Some((0, 1.0)));
    assert!(search.unpromoted().is_empty());
}

#[test]
fn a_loss_that_is_not_finite_is_above_every_median() {
    let mut search = Search::new(plan(3)).unwrap();
    assert!(train(&mut search, [1.0, 1.0, 1.0]));
    assert!(!train(&mut search, [f64::NAN, 0.0, 0.0]));
    assert!(!train(&mut search, [f64::INFINITY, 0.0, 0.0]));
}

#[test]
fn without_resuming_the_next_job_of_a_trial_comes_before_a_new_trial() {
    let mut search = Search::new(plan(2)).unwrap();
    let first = Job {
        trial: 0,
        rung: 0,
        bracket: 0,
        from: 0.0,
        to: 2.0,
    };
    assert_eq!(search.next(), Next::Job(first));
    search.report(0, 1.0).unwrap();
    let second = Job {
        rung: 1,
        from: 2.0,
        to: 4.0,
        ..first
    };
    assert_eq!(search.next(), Next::Job(second));
    assert_eq!(search.resume(0), None);
}
