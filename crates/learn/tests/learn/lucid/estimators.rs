//! Tests the estimators of durations, the trial that compares them, and the model that contains all
//! of them.

use gleaner_learn::ebm::FitError;
use gleaner_learn::lucid::Usage;
use gleaner_learn::lucid::workload::{
    Estimator, EstimatorChoice, Job, Learning, Past, Trial, WorkloadModel,
};
use gleaner_learn::metrics::{mean_absolute_error, spearman};
use gleaner_observer::Unobserved;
use jiff::SignedDuration;
use jiff::civil::date;
use proptest::prelude::*;

const DAY: i64 = 24 * 3600;
const USERS: [&str; 4] = ["ann", "bob", "cy", "di"];
const NAMES: [&str; 5] = ["train", "test", "evaluate", "", "x"];

/// A job that has ended. `user` and `name` are indices into `USERS` and `NAMES`.
fn past(user: usize, name: usize, submitted: i64, seconds: i64) -> Past<'static> {
    let start = date(2020, 9, 1).at(0, 0, 0, 0);
    Past {
        job: Job {
            user: USERS[user],
            name: NAMES[name],
            vc: "vc",
            gpus: 1 + (name as u32) % 2,
            cpus: 1.0,
            submitted: start + SignedDuration::from_secs(submitted),
            amp: None,
            usage: Usage {
                gpu_util: f64::NAN,
                gmem_util: f64::NAN,
                gmem: f64::NAN,
            },
        },
        submitted,
        ended: submitted + seconds,
        seconds: seconds as f64,
    }
}

fn learning() -> Learning {
    Learning {
        profile: false,
        seed: 1,
        monotone: Vec::new(),
    }
}

fn run(past: &[Past<'_>]) -> Option<Trial> {
    Trial::run(&Estimator::ALL, past, &learning(), &Unobserved).unwrap()
}

/// One job per hour, for the given number of days.
fn hourly(days: i64) -> Vec<Past<'static>> {
    let job = |k: i64| {
        let (user, name) = ((k * 3 % 4) as usize, (k * 7 % 5) as usize);
        past(
            user,
            name,
            k * 3600,
            600 + 900 * (user as i64) + 5000 * (name as i64 % 3),
        )
    };
    (0..days * 24).map(job).collect()
}

// The last third of the span is held out. If this third is longer than a week, it is rounded down
// to whole weeks.
#[test]
fn the_last_weeks_are_held_out() {
    for (days, held_out) in [(3, 24), (9, 72), (20, 160), (22, 168), (44, 336), (90, 672)] {
        let jobs = hourly(days);
        let trial = run(&jobs).unwrap();
        // The span from the first to the last of n submissions is n - 1 hours. The job submitted at
        // its end is also held out.
        let span = (jobs.len() as i64 - 1) * 3600;
        let weeks = span / 3 / (7 * DAY) * 7 * DAY;
        let from = span - if weeks > 0 { weeks } else { span / 3 };
        let expected = jobs.iter().filter(|past| past.submitted >= from).count();
        assert_eq!(trial.held_out, expected, "{days} days");
        assert!(trial.held_out.abs_diff(held_out) <= 1, "{days} days");
        assert_eq!(
            trial.learnt,
            jobs.iter().filter(|past| past.ended < from).count()
        );
        assert_eq!(trial.to, jobs[jobs.len() - 1].job.submitted);
    }
}

#[test]
fn too_few_jobs_are_not_held_out() {
    let jobs = hourly(2);
    assert!(run(&jobs).is_some());
    assert_eq!(run(&jobs[..20]), None);
    assert_eq!(run(&[]), None);
    // All jobs are submitted at the same time, so no job has ended before the held-out period.
    let at_once: Vec<Past<'_>> = (0..50).map(|k| past(k % 4, k % 5, 0, 60)).collect();
    assert_eq!(run(&at_once), None);
    let fit = |past: &[Past<'_>]| {
        let best = EstimatorChoice::Best;
        WorkloadModel::fit(past, &learning(), best, &Unobserved)
    };
    let model = fit(&at_once).unwrap();
    assert_eq!(model.trial(), None);
    assert_eq!(model.pick(EstimatorChoice::Best).0, Estimator::Ebm);
    assert_eq!(fit(&[]).unwrap_err(), FitError::NoRows);
}

#[test]
fn scores_are_those_of_fits_on_ended_jobs() {
    let jobs = hourly(30);
    let trial = run(&jobs).unwrap();
    let (rest, held_out) = jobs.split_at(jobs.len() - trial.held_out);
    let from = jobs[jobs.len() - 1].submitted - 7 * DAY;
    let known: Vec<Past<'_>> = rest
        .iter()
        .filter(|past| past.ended < from)
        .cloned()
        .collect();
    let truth: Vec<f64> = held_out.iter().map(|past| past.seconds).collect();
    let asked: Vec<Job<'_>> = held_out.iter().map(|past| past.job.clone()).collect();
    for score in &trial.scores {
        let fitted = score.estimator.fit(&known, &learning(), &Unobserved);
        let told = fitted.unwrap().predict(&asked);
        assert_eq!(score.mae, mean_absolute_error(&truth, &told));
        let rank = spearman(&truth, &told);
        assert_eq!(
            score.rank_correlation,
            Some(rank).filter(|rank| rank.is_finite())
        );
    }
    // Users and names determine the durations, so the history estimates them exactly.
    assert_eq!(trial.best(), Estimator::History);
    assert!(trial.scores[2].rank_correlation.unwrap() > 0.999);
    let (estimator, fitted) = EstimatorChoice::Best
        .fit(&jobs, &learning(), &Unobserved)
        .unwrap();
    assert_eq!(estimator, Estimator::History);
    assert_eq!(fitted.predict(&asked), truth);
}

#[test]
fn equal_rank_correlations_are_decided_by_errors() {
    let mut trial = run(&hourly(10)).unwrap();
    let ranks = [Some(-0.2), None, None, Some(0.0), Some(-0.1)];
    for (score, rank) in trial.scores.iter_mut().zip(ranks) {
        (score.rank_correlation, score.mae) = (rank, 10.0);
    }
    // Three estimators have a rank correlation of 0 or an undefined correlation, which counts as 0.
    // With equal errors, the first of these estimators is the best.
    assert_eq!(trial.best(), Estimator::EbmSeconds);
    trial.scores[3].mae = 9.0;
    assert_eq!(trial.best(), Estimator::Median);
    trial.scores[4].rank_correlation = Some(0.01);
    assert_eq!(trial.best(), Estimator::Mean);
}

#[test]
fn a_saved_model_is_the_same_and_a_mixed_up_one_refused() {
    let choice = EstimatorChoice::Named(Estimator::Mean);
    let model = WorkloadModel::fit(&hourly(10), &learning(), choice, &Unobserved).unwrap();
    let value = serde_json::to_value(&model).unwrap();
    assert_eq!(
        serde_json::from_value::<WorkloadModel>(value.clone()).unwrap(),
        model
    );
    assert_eq!(model.pick(EstimatorChoice::Best).0, Estimator::Mean);
    assert_eq!(value["trial"]["scores"][2]["estimator"], "history");
    let refused = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut value = value.clone();
        change(&mut value);
        let error = serde_json::from_value::<WorkloadModel>(value);
        error.map(|_| ()).unwrap_err().to_string()
    };
    let error = refused(&|v| v["estimators"]["ebm"] = v["estimators"]["ebm-seconds"].clone());
    assert_eq!(
        error,
        "the estimator saved under the name ebm is of a different kind"
    );
    let error = refused(&|v| v["estimators"]["history"] = v["estimators"]["mean"].clone());
    assert_eq!(
        error,
        "the estimator saved under the name history is of a different kind"
    );
    let error = refused(&|v| v["profile"] = true.into());
    assert_eq!(
        error,
        "the estimator saved under the name ebm is of a different kind"
    );
    refused(&|v| v["chosen"] = "moon".into());
    refused(&|v| v["estimators"]["median"] = serde_json::Value::Null);
}

#[test]
fn names_are_read_as_they_are_written() {
    for estimator in Estimator::ALL {
        assert_eq!(estimator.to_string().parse(), Ok(estimator));
        let choice = EstimatorChoice::Named(estimator);
        assert_eq!(choice.to_string().parse(), Ok(choice));
        let json = serde_json::to_value(estimator).unwrap();
        assert_eq!(json, estimator.name());
    }
    assert_eq!("best".parse(), Ok(EstimatorChoice::Best));
    let error = "moon".parse::<EstimatorChoice>().unwrap_err();
    assert!(
        error.ends_with("ebm, ebm-seconds, history, median, mean, best"),
        "{error}"
    );
}

proptest! {
    #![proptest_config(gleaner_testing::cases(30))]
    /// Some jobs were submitted before the held-out weeks, but had not ended when these weeks began. They have no
    /// influence on any score, however long they run.
    #[test]
    fn trials_do_not_look_ahead(
        jobs in proptest::collection::vec((0..4usize, 0..5usize, 0..30 * DAY, 1..4 * DAY), 40..80),
        more in 1..10 * DAY,
    ) {
        let mut jobs: Vec<Past<'_>> =
            jobs.into_iter().map(|(user, name, at, runs)| past(user, name, at, runs)).collect();
        let quick = |jobs: &[Past<'_>]| {
            let rules = [Estimator::History, Estimator::Median, Estimator::Mean];
            Trial::run(&rules, jobs, &learning(), &Unobserved).unwrap()
        };
        let before = quick(&jobs);
        let submitted = || jobs.iter().map(|past| past.submitted);
        let (first, last) = (submitted().min().unwrap(), submitted().max().unwrap());
        let third = (last - first) / 3;
        let from = last - if third >= 7 * DAY { third / (7 * DAY) * 7 * DAY } else { third };
        for past in jobs.iter_mut().filter(|past| past.submitted < from && past.ended >= from) {
            past.seconds += more as f64;
            past.ended += more;
        }
        prop_assert_eq!(quick(&jobs), before);
    }
}
