//! Tests that the largest searches end within seconds.

use gleaner_search::{Algorithm, Family, Job, Plan};

use crate::workers::run;

fn large(algorithm: Algorithm, trials: Option<u32>, max_resource: f64) -> usize {
    let plan = Plan {
        trials,
        ..Plan::new(algorithm, max_resource)
    };
    let family = Family::default();
    let loss = |job: &Job| family.loss(job.trial, job.to);
    let log = run(&plan, 500, 1, &loss, usize::MAX);
    assert!(log.search.best().is_some());
    log.jobs.len()
}

#[test]
fn large_searches_end() {
    let fewest = |trials: usize| (0..5).map(|k| trials / 3_usize.pow(k)).sum::<usize>();
    assert!(large(Algorithm::Asha, Some(200_000), 81.0) >= fewest(200_000));
    assert_eq!(
        large(Algorithm::SuccessiveHalving, Some(200_000), 81.0),
        fewest(200_000)
    );
    assert_eq!(large(Algorithm::Random, Some(1_000_000), 81.0), 1_000_000);
    assert!(large(Algorithm::Hyperband, None, 6561.0) > 10_000);
}

/// Each trial is better than all previous trials, so the top of each rung changes with each result.
#[test]
fn a_top_that_always_changes_is_no_slower() {
    let plan = Plan {
        trials: Some(200_000),
        ..Plan::new(Algorithm::Asha, 81.0)
    };
    let log = run(&plan, 10, 1, &|job| -f64::from(job.trial), usize::MAX);
    assert_eq!(log.trials(0, 0).len(), 200_000);
    assert!(log.trials(0, 4).len() > 50_000);
}
