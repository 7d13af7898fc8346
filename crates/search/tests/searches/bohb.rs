//! Tests of BOHB on simulated searches.

use gleaner_search::{Algorithm, Family, LearningCurves, Next, Plan, Search};

use crate::workers::space;

/// The final noise-free loss of the best trial in a search whose trials are trained one by one.
fn best(algorithm: Algorithm, seed: u64) -> f64 {
    let plan = Plan {
        min_resource: 1.0,
        ..Plan::new(algorithm, 27.0)
    };
    let curves = LearningCurves::Family(Family {
        seed,
        noise: 0.0,
        ..Family::default()
    });
    let mut search = Search::seeded(plan, seed, &space()).unwrap();
    while let Next::Job(job) = search.next() {
        let loss = search.loss(&curves, job.trial, job.to);
        search.report(job.trial, loss).unwrap();
    }
    search.best().unwrap().1
}

/// Over many seeds, the model finds better hyperparameters than random draws. With a single seed, either can be better.
#[test]
fn the_model_beats_random_hyperparameters() {
    let seeds = 0..60;
    let of = |algorithm| seeds.clone().map(move |seed| best(algorithm, seed));
    let (random, model): (Vec<f64>, Vec<f64>) = (
        of(Algorithm::Hyperband).collect(),
        of(Algorithm::Bohb).collect(),
    );
    let mean = |losses: &[f64]| losses.iter().sum::<f64>() / losses.len() as f64;
    assert!(
        mean(&model) < mean(&random),
        "{} {}",
        mean(&model),
        mean(&random)
    );
    let wins = model.iter().zip(&random).filter(|(a, b)| a < b).count();
    assert!(wins > 30, "{wins} of 60");
}

#[test]
fn bohb_needs_hyperparameters() {
    let faults = Search::new(Plan::new(Algorithm::Bohb, 9.0)).unwrap_err();
    assert_eq!(
        faults[0].to_string(),
        "space: found nothing, expected at least one hyperparameter, because bohb models their effect"
    );
}
