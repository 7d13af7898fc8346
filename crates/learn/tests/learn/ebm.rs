//! Tests the explainable boosting machine on synthetic data, for which the true functions are
//! known.

use gleaner_learn::ebm::{Binning, Bins, Ebm, FitError, Mismatch, Settings, Term};
use gleaner_learn::isotonic::Direction;
use gleaner_learn::{Column, Table, metrics};
use gleaner_testing::StopAfter;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn table(columns: Vec<(&str, Column)>) -> Table {
    let named = columns
        .into_iter()
        .map(|(name, column)| (name.to_owned(), column));
    Table::new(named.collect()).unwrap()
}

/// Random numbers from 0 to 1.
fn random(rng: &mut ChaCha8Rng, rows: usize) -> Vec<f64> {
    (0..rows).map(|_| rng.random::<f64>()).collect()
}

/// The mean absolute difference between a curve and the true function, which is centred by
/// subtracting its mean over the rows.
fn curve_error(machine: &Ebm, term: &Term, values: &[f64], truth: impl Fn(f64) -> f64) -> f64 {
    let Bins::Numeric { cuts, .. } = &machine.features()[term.axes()[0].feature()].bins else {
        panic!("numbers")
    };
    let mean = values.iter().map(|&x| truth(x)).sum::<f64>() / values.len() as f64;
    let score = |x: f64| term.scores()[1 + cuts.partition_point(|&cut| cut <= x)];
    let errors = values.iter().map(|&x| (score(x) - (truth(x) - mean)).abs());
    errors.sum::<f64>() / values.len() as f64
}

#[test]
fn additive_functions_are_recovered() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let columns: Vec<Vec<f64>> = (0..4).map(|_| random(&mut rng, 4000)).collect();
    let wave = |x: f64| (6.0 * x).sin();
    let square = |x: f64| 2.0 * x * x;
    let stairs = |x: f64| if x < 0.3 { -1.0 } else { 0.5 };
    let noise = random(&mut rng, 4000);
    let labels: Vec<f64> = (0..4000)
        .map(|k| {
            10.0 + wave(columns[0][k])
                + square(columns[1][k])
                + stairs(columns[2][k])
                + 0.2 * (noise[k] - 0.5)
        })
        .collect();
    let names = ["wave", "square", "stairs", "nothing"];
    let named = names
        .iter()
        .zip(&columns)
        .map(|(name, values)| (*name, Column::Numeric(values.clone())));
    let features = table(named.collect());
    let machine = Ebm::fit(
        &features,
        &labels,
        &Settings {
            interactions: 0,
            ..Settings::default()
        },
    )
    .unwrap();
    let errors = [
        curve_error(&machine, &machine.terms()[0], &columns[0], wave),
        curve_error(&machine, &machine.terms()[1], &columns[1], square),
        curve_error(&machine, &machine.terms()[2], &columns[2], stairs),
        curve_error(&machine, &machine.terms()[3], &columns[3], |_| 0.0),
    ];
    // Except for the last, which is 0, each true function spans a range of 1.5 to 2.
    assert!(errors.iter().all(|&error| error < 0.04), "{errors:?}");
    let mean = labels.iter().sum::<f64>() / 4000.0;
    assert!((machine.intercept() - mean).abs() < 0.01);
    let importances: Vec<f64> = machine.terms().iter().map(Term::importance).collect();
    assert!(
        importances[..3].iter().all(|&i| i > 20.0 * importances[3]),
        "{importances:?}"
    );
}

#[test]
fn a_planted_interaction_comes_first_and_is_learnt() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let columns: Vec<Vec<f64>> = (0..6).map(|_| random(&mut rng, 5000)).collect();
    let labels: Vec<f64> = (0..5000)
        .map(|k| {
            let crossed = f64::from((columns[1][k] > 0.6) != (columns[4][k] > 0.35));
            3.0 * columns[0][k] + 2.0 * crossed + 0.1 * columns[5][k]
        })
        .collect();
    let names = ["a", "b", "c", "d", "e", "f"];
    let named = names
        .iter()
        .zip(&columns)
        .map(|(name, values)| (*name, Column::Numeric(values.clone())));
    let features = table(named.collect());
    let settings = Settings {
        interactions: 3,
        ..Settings::default()
    };
    let machine = Ebm::fit(&features, &labels, &settings).unwrap();
    assert_eq!(machine.name(&machine.terms()[6]), "b & e");
    let with = metrics::r_squared(&labels, &machine.predict(&features).unwrap());
    let alone = Ebm::fit(
        &features,
        &labels,
        &Settings {
            interactions: 0,
            ..settings
        },
    )
    .unwrap();
    let without = metrics::r_squared(&labels, &alone.predict(&features).unwrap());
    assert!(
        with > 0.97 && without < 0.6,
        "{with} with the pair, {without} without"
    );
}

/// A table with four columns: numbers with some missing values, a constant, only missing values, and strings.
fn odd(rows: usize, seed: u64) -> (Table, Vec<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let gaps: Vec<f64> = random(&mut rng, rows)
        .iter()
        .map(|&x| if x < 0.2 { f64::NAN } else { x })
        .collect();
    let texts: Vec<Option<String>> = (0..rows)
        .map(|_| {
            (rng.random::<f64>() > 0.1).then(|| format!("t{}", (rng.random::<f64>() * 9.0) as u32))
        })
        .collect();
    let labels = (0..rows)
        .map(|k| {
            let text = texts[k].as_ref().map_or(5.0, |text| {
                text.len() as f64 + f64::from(text.ends_with('3'))
            });
            text + if gaps[k].is_nan() { -2.0 } else { gaps[k] }
        })
        .collect();
    let features = table(vec![
        ("gaps", Column::Numeric(gaps)),
        ("constant", Column::Numeric(vec![4.0; rows])),
        ("none", Column::Numeric(vec![f64::NAN; rows])),
        ("text", Column::texts(texts)),
    ]);
    (features, labels)
}

#[test]
fn gaps_constants_and_texts_are_learnt_from() {
    let (features, labels) = odd(3000, 3);
    let machine = Ebm::fit(&features, &labels, &Settings::default()).unwrap();
    let error = metrics::mean_absolute_error(&labels, &machine.predict(&features).unwrap());
    assert!(error < 0.03, "{error}");
    // A missing value contributes −2 to the label, and the median known value contributes about
    // 0.6, so their scores differ by 2.6.
    let gaps = &machine.terms()[0];
    let middle = gaps.scores()[gaps.scores().len() / 2];
    assert!(
        (middle - gaps.scores()[0] - 2.6).abs() < 0.1,
        "{:?}",
        gaps.scores()
    );
    assert!(
        machine.terms()[1..3]
            .iter()
            .all(|term| term.importance() == 0.0)
    );
    let unseen = table(vec![
        ("gaps", Column::Numeric(vec![f64::INFINITY, 1e300])),
        ("constant", Column::Numeric(vec![-7.0, f64::NAN])),
        ("none", Column::Numeric(vec![1.0, 2.0])),
        ("text", Column::texts([Some("never seen"), None])),
    ]);
    assert!(
        machine
            .predict(&unseen)
            .unwrap()
            .iter()
            .all(|y| y.is_finite())
    );
}

#[test]
fn few_rows_give_their_mean() {
    let (features, labels) = odd(1, 4);
    let machine = Ebm::fit(&features, &labels, &Settings::default()).unwrap();
    assert!((machine.predict(&features).unwrap()[0] - labels[0]).abs() < 1e-12);
    let (features, labels) = odd(5, 4);
    let machine = Ebm::fit(&features, &labels, &Settings::default()).unwrap();
    let mean = metrics::mean(&labels);
    assert!(
        machine
            .predict(&features)
            .unwrap()
            .iter()
            .all(|y| (y - mean).abs() < 1e-12)
    );
}

#[test]
fn invalid_training_data_are_refused() {
    let (features, mut labels) = odd(9, 5);
    let fit =
        |labels: &[f64], settings: Settings| Ebm::fit(&features, labels, &settings).map(|_| ());
    assert_eq!(
        fit(&labels[1..], Settings::default()),
        Err(FitError::Labels { found: 8, rows: 9 })
    );
    labels[6] = f64::INFINITY;
    assert_eq!(
        fit(&labels, Settings::default()),
        Err(FitError::Label {
            row: 6,
            found: f64::INFINITY
        })
    );
    let none = features.take(&[]);
    assert_eq!(
        Ebm::fit(&none, &[], &Settings::default()).map(|_| ()),
        Err(FitError::NoRows)
    );
    for settings in [
        Settings {
            learning_rate: f64::NAN,
            ..Settings::default()
        },
        Settings {
            max_bins: 1,
            ..Settings::default()
        },
        Settings {
            validation: 1.0,
            ..Settings::default()
        },
        Settings {
            bags: 0,
            ..Settings::default()
        },
        Settings {
            leaves: 1,
            ..Settings::default()
        },
    ] {
        assert!(
            matches!(fit(&[0.0; 9], settings), Err(FitError::Settings(_))),
            "{settings:?}"
        );
    }
}

#[test]
fn other_features_are_refused() {
    let (features, labels) = odd(50, 6);
    let machine = Ebm::fit(&features, &labels, &Settings::default()).unwrap();
    let fewer = features.select(|name| name != "none");
    assert!(matches!(
        machine.predict(&fewer),
        Err(Mismatch::Features { .. })
    ));
    let mut columns: Vec<(String, Column)> = features
        .names()
        .iter()
        .cloned()
        .zip(features.columns().iter().cloned())
        .collect();
    columns[3].1 = Column::Numeric(vec![0.0; 50]);
    let error = machine.predict(&Table::new(columns).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "feature text was trained on strings, but the table's column does not hold strings"
    );
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let (features, labels) = odd(2000, 7);
    let fit = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            Ebm::fit(
                &features,
                &labels,
                &Settings {
                    seed,
                    ..Settings::default()
                },
            )
            .unwrap()
        })
    };
    // There are 14 bags. With one or three threads, each thread boosts two bags at a time. With 16
    // threads, each thread boosts one bag.
    let one = fit(1, 11);
    assert_eq!(one, fit(3, 11));
    assert_eq!(one, fit(16, 11));
    assert_ne!(one, fit(3, 12));
}

#[test]
fn a_fit_is_watched_and_stopped() {
    let (features, labels) = odd(300, 13);
    let settings = Settings::default();
    let fit = |reports: usize| {
        let observer = StopAfter::new(reports);
        let fitted = Ebm::fit_observed(&features, &labels, &settings, &observer);
        (fitted, observer.progress())
    };
    let (watched, progress) = fit(usize::MAX);
    let watched = watched.unwrap();
    assert_eq!(watched, Ebm::fit(&features, &labels, &settings).unwrap());
    // Ten pairs were requested, but four features form only six pairs.
    let pairs = watched.terms().len() - 4;
    let done = Settings {
        interactions: pairs,
        ..settings
    };
    let last = progress.iter().max();
    assert_eq!(last, Some(&(done.work(300, 4), settings.work(300, 4))));
    // Each of the 14 bags reports progress twice: after it has learnt the features, and after it
    // has learnt the pairs.
    assert_eq!(progress.len(), 28);
    assert_eq!(fit(0), (Err(FitError::Stopped), Vec::new()));
    // The fit stops before any bag learns the pairs.
    let (stopped, progress) = fit(1);
    assert_eq!(stopped, Err(FitError::Stopped));
    assert!(progress.len() <= 14, "{progress:?}");
}

type Change<'c> = &'c dyn Fn(&mut serde_json::Value);

#[test]
fn a_saved_machine_is_the_same_and_a_broken_one_refused() {
    let (features, labels) = odd(400, 8);
    let machine = Ebm::fit(&features, &labels, &Settings::default()).unwrap();
    let text = serde_json::to_string(&machine).unwrap();
    assert_eq!(serde_json::from_str::<Ebm>(&text).unwrap(), machine);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let broken = |change: Change<'_>| {
        let mut value = value.clone();
        change(&mut value);
        serde_json::from_value::<Ebm>(value)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    let cases: [(Change<'_>, &str); 6] = [
        (
            &|v| v["terms"][0]["scores"] = serde_json::json!([1.0]),
            "term 0:",
        ),
        (
            &|v| v["terms"][1]["axes"][0]["feature"] = 99.into(),
            "term 1: it has the wrong features: [99]",
        ),
        (
            &|v| v["terms"][0]["axes"][0]["groups"][1] = 60_000.into(),
            "a group that is not among",
        ),
        (
            &|v| v["features"][0]["bins"]["numeric"]["cuts"][0] = 1e9.into(),
            "not finite numbers in ascending order",
        ),
        (
            &|v| v["terms"][0]["axes"][0]["size"] = 1u64.wrapping_shl(63).into(),
            "the numbers of scores",
        ),
        (
            &|v| v["terms"] = serde_json::json!([]),
            "there are 4 features, but only 0 terms",
        ),
    ];
    for (change, words) in cases {
        let error = broken(change);
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_curve_can_be_made_monotone() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let x = random(&mut rng, 2000);
    let noise = random(&mut rng, 2000);
    let labels: Vec<f64> = x
        .iter()
        .zip(&noise)
        .map(|(x, noise)| 2.0 * x + 3.0 * noise)
        .collect();
    let features = table(vec![("x", Column::Numeric(x))]);
    let mut machine = Ebm::fit(&features, &labels, &Settings::default()).unwrap();
    assert!(
        !machine.terms()[0].scores()[1..].is_sorted(),
        "noise makes the curve go up and down"
    );
    let before = machine.predict(&features).unwrap();
    assert!(machine.smooth("x", Direction::Increasing));
    assert!(machine.terms()[0].scores()[1..].is_sorted());
    let after = machine.predict(&features).unwrap();
    assert!((metrics::mean(&before) - metrics::mean(&after)).abs() < 1e-9);
    assert!(!machine.smooth("y", Direction::Increasing));
}

proptest! {
    #![proptest_config(gleaner_testing::cases(60))]
    #[test]
    fn contributions_add_up_to_the_prediction(
        rows in 1..300usize, seed in any::<u64>(), uniform in any::<bool>(), leaves in 2..5usize,
    ) {
        let (features, labels) = odd(rows, seed);
        let settings = Settings {
            binning: if uniform { Binning::Uniform } else { Binning::Quantile },
            leaves, bags: 3, max_rounds: 200, seed, ..Settings::default()
        };
        let machine = Ebm::fit(&features, &labels, &settings).unwrap();
        let predictions = machine.predict(&features).unwrap();
        for row in [0, rows / 2, rows - 1] {
            let answer = machine.explain(&features, row).unwrap();
            let sum = answer.intercept + answer.contributions.iter().map(|c| c.score).sum::<f64>();
            prop_assert!((sum - predictions[row]).abs() < 1e-9);
            prop_assert_eq!(answer.prediction, predictions[row]);
        }
        // Each term has mean 0, so the mean prediction is the intercept.
        let mean = metrics::mean(&predictions);
        prop_assert!((mean - machine.intercept()).abs() < 1e-9 * (1.0 + mean.abs()));
        // Each step moves towards a mean of residuals, so predictions stay finite.
        prop_assert!(predictions.iter().all(|y| y.is_finite()));
    }
}
