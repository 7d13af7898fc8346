//! Lucid's workload model, which estimates the durations of jobs.

use gleaner_domain::error::{Fault, Result};
use gleaner_inputs::jobs::{cluster, estimates, trace};
use gleaner_learn::ebm::{Ebm, Settings};
use gleaner_learn::lucid::workload::{DurationEbm, Job, Options, features};
use gleaner_learn::metrics::{mean, mean_absolute_error, median, r_squared, spearman};
use gleaner_predict::{Calendar, known_jobs};

use crate::files::Data;
use crate::filled::Values;
use crate::{Part, cause};

/// The time at second 0 of the trace.
const EPOCH: jiff::civil::DateTime = jiff::civil::datetime(2020, 4, 1, 0, 0, 0, 0);
/// The model is trained on jobs submitted before this time, and estimates the durations of the other jobs.
const SPLIT: jiff::civil::DateTime = jiff::civil::datetime(2020, 9, 15, 0, 0, 0, 0);
/// Number of GPUs per node. The function that reads the trace requires this number, but the models do not use it.
const GPUS_PER_NODE: u32 = 8;

/// Maximum number of rounds in the published settings. `gleaner train` uses a lower maximum.
const PUBLISHED_ROUNDS: usize = 5000;

/// Trains the models on the first half of September, and tests them on the second half.
pub fn add(part: &mut Part<'_>, data: Data<'_>) -> Result<()> {
    let file = |name: &str| data.file(&format!("lucid/venus_sept/{name}"));
    let cluster = part.take(cluster::read(&file("vc_config.csv"), GPUS_PER_NODE)?);
    let read = trace::read(&file("jobs.csv"), &cluster, trace::Options::default())?;
    let trace = part.take(read).trace;
    let published = file("duration_estimate_ebm.csv");
    let published = part.take(estimates::read(&published, &trace)?);
    let calendar = Calendar::new(EPOCH);
    let known = known_jobs(&trace, &cluster, calendar);
    let second = calendar.second(SPLIT);
    let train = trace.jobs.partition_point(|job| job.submit < second);
    if train == 0 || train == trace.jobs.len() {
        let found = format!("{train} of {} jobs before {SPLIT}", trace.jobs.len());
        let expected = "jobs before and after that time";
        return Err(Fault::of(&file("jobs.csv"), found, expected).into());
    }
    let seconds: Vec<f64> = trace.jobs.iter().map(|job| job.duration as f64).collect();
    let (learnt, truth) = seconds.split_at(train);
    let (first, rest) = known.split_at(train);
    let score = |told: &[f64]| {
        let scores = [
            mean_absolute_error(truth, told),
            r_squared(truth, told),
            spearman(truth, told),
        ];
        ["error", "R²", "rank correlation"].into_iter().zip(scores)
    };
    let mut ours = Values::default();
    for (row, told) in fits(part, first, learnt, rest)? {
        ours.row(row, score(&told));
    }
    let given = trace.jobs[train..]
        .iter()
        .map(|job| published.0.get(&job.id).copied());
    let given: Vec<f64> = given.map(Option::unwrap_or_default).collect();
    ours.row("published estimates", score(&given));
    part.add("lucid-workload", &ours)?;
    let mut rules = Values::default();
    for (row, value) in [
        ("training median", median(learnt)),
        ("training mean", mean(learnt)),
    ] {
        let told = vec![value; truth.len()];
        rules.set(row, "error", mean_absolute_error(truth, &told));
    }
    part.add("lucid-rules", &rules)?;
    Ok(())
}

/// The estimates of three explainable boosting machines, each with the name of its row in the
/// table.
fn fits(
    part: &Part<'_>,
    first: &[Job<'_>],
    learnt: &[f64],
    rest: &[Job<'_>],
) -> Result<[(&'static str, Vec<f64>); 3]> {
    let observer = part.observer.stop();
    let fit = |options: Options| {
        let machine = DurationEbm::fit(first, learnt, options, &settings(options), observer);
        machine.map(|machine| machine.predict(rest))
    };
    let fit_numbers = || {
        let table = features(first, true);
        let [train, test] = [&table, &features(rest, true)].map(|rows| rows.numbered(&table));
        let machine = Ebm::fit_observed(&train, learnt, &settings(SECONDS), observer);
        machine.map(|machine| machine.predict(&test).unwrap_or_default())
    };
    let (seconds, (numbers, logarithms)) = rayon::join(
        || fit(SECONDS),
        || rayon::join(fit_numbers, || fit(LOGARITHMS)),
    );
    let cause = |error| cause(part.observer, error);
    Ok([
        ("EBM", seconds.map_err(cause)?),
        ("EBM, users as numbers", numbers.map_err(cause)?),
        ("EBM on logarithms", logarithms.map_err(cause)?),
    ])
}

/// Options of a machine that predicts seconds from all features.
const SECONDS: Options = Options {
    profile: true,
    logarithm: false,
};

/// Options of a machine that predicts logarithms of seconds from all features.
const LOGARITHMS: Options = Options {
    logarithm: true,
    ..SECONDS
};

/// The settings of a machine with these options. A machine that predicts seconds has the published settings, as far as
/// our implementation supports them.
fn settings(options: Options) -> Settings {
    let settings = options.settings(0);
    if options.logarithm {
        settings
    } else {
        Settings {
            max_rounds: PUBLISHED_ROUNDS,
            ..settings
        }
    }
}
