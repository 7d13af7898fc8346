//! Lucid's workload model: how long will a job run?

use gleaner_core::error::{Fault, Result};
use gleaner_formats::ingest::jobs::{cluster, estimates, trace};
use gleaner_learn::ebm::Control as FitControl;
use gleaner_learn::lucid::workload::{DurationEbm, Job, Options};
use gleaner_learn::metrics::{mean, mean_absolute_error, median, r_squared, spearman};
use gleaner_predict::{Calendar, known_jobs};

use crate::Part;
use crate::files::Data;
use crate::filled::Values;

/// Second 0 of the trace.
const EPOCH: jiff::civil::DateTime = jiff::civil::datetime(2020, 4, 1, 0, 0, 0, 0);
/// Jobs submitted before this time are learnt from, the others are estimated.
const SPLIT: jiff::civil::DateTime = jiff::civil::datetime(2020, 9, 15, 0, 0, 0, 0);
/// GPUs of a node, which models do not ask for.
const GPUS_PER_NODE: u32 = 8;

/// The most rounds of the published settings; `gleaner train` makes do with fewer.
const PUBLISHED_ROUNDS: usize = 5000;

/// Trains on the first half of September and tests on the second.
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
        let expected = "jobs before and after it";
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
    let [seconds, logarithms] = fits(part, first, learnt, rest)?;
    ours.row("EBM", score(&seconds));
    ours.row("EBM of logarithms", score(&logarithms));
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

/// Estimates by machines of seconds and of their logarithms.
fn fits(
    part: &Part<'_>,
    first: &[Job<'_>],
    learnt: &[f64],
    rest: &[Job<'_>],
) -> Result<[Vec<f64>; 2]> {
    let fit = |logarithm: bool| -> Result<Vec<f64>> {
        let options = Options {
            profile: true,
            logarithm,
        };
        let control = FitControl {
            stop: part.control.stop,
            ..FitControl::default()
        };
        let mut settings = options.settings(0);
        if !logarithm {
            settings.max_rounds = PUBLISHED_ROUNDS;
        }
        let machine = DurationEbm::fit(first, learnt, options, &settings, control);
        let machine = machine.map_err(|error| part.control.cause(error))?;
        Ok(machine.predict(rest))
    };
    let (seconds, logarithms) = rayon::join(|| fit(false), || fit(true));
    Ok([seconds?, logarithms?])
}
