//! Tests of drawn and of measured learning curves.

use std::collections::BTreeMap;

use gleaner_search::{Draw, Family, LearningCurves, Point, Table};
use proptest::prelude::*;

const TRIALS: u32 = 2000;

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / values.len() as f64).sqrt()
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let (mean_a, mean_b) = (mean(a), mean(b));
    let products: Vec<f64> = a
        .iter()
        .zip(b)
        .map(|(a, b)| (a - mean_a) * (b - mean_b))
        .collect();
    mean(&products) / (deviation(a) * deviation(b))
}

#[test]
fn draws_follow_their_distributions() {
    let family = Family {
        floor: Draw::Normal {
            mean: 2.0,
            deviation: 0.5,
        },
        ..Family::default()
    };
    let curves: Vec<_> = (0..TRIALS).map(|trial| family.curve(trial, None)).collect();
    let floors: Vec<f64> = curves.iter().map(|curve| curve.floor).collect();
    assert!((mean(&floors) - 2.0).abs() < 0.05 && (deviation(&floors) - 0.5).abs() < 0.03);
    let amplitudes: Vec<f64> = curves.iter().map(|curve| curve.amplitude).collect();
    assert!(
        amplitudes
            .iter()
            .all(|amplitude| (1.0..=3.0).contains(amplitude))
    );
    assert!((mean(&amplitudes) - 2.0).abs() < 0.05);
    let rates: Vec<f64> = curves.iter().map(|curve| curve.rate).collect();
    assert!(rates.iter().all(|rate| (0.2..=1.0).contains(rate)));
    let logs: Vec<f64> = rates.iter().map(|rate| rate.ln()).collect();
    assert!((mean(&logs) - 0.2_f64.sqrt().ln()).abs() < 0.05);
    // The three parameters of a trial are drawn independently of each other.
    assert!(correlation(&floors, &amplitudes).abs() < 0.07);
    assert!(correlation(&floors, &rates).abs() < 0.07);
    assert!(correlation(&amplitudes, &rates).abs() < 0.07);
}

#[test]
fn losses_are_the_documented_formula_and_noise() {
    let family = Family {
        scale: 2.0,
        noise: 0.25,
        ..Family::default()
    };
    let mut noise = Vec::new();
    for trial in 0..TRIALS {
        let curve = family.curve(trial, None);
        for resource in [0.0, 1.0, 27.0] {
            let factor = f64::powf(1.0 + resource / 2.0, -curve.rate);
            let expected = curve.floor + curve.amplitude * factor;
            assert_eq!(family.true_loss(trial, resource), expected);
            noise.push(family.loss(trial, resource) - expected);
        }
        assert_eq!(family.true_loss(trial, 0.0), curve.floor + curve.amplitude);
    }
    assert!(mean(&noise).abs() < 0.01 && (deviation(&noise) - 0.25).abs() < 0.01);
    // The noise of a trial at one resource is independent of its noise at another resource.
    let of = |index: usize| {
        noise
            .iter()
            .skip(index)
            .step_by(3)
            .copied()
            .collect::<Vec<_>>()
    };
    assert!(correlation(&of(0), &of(1)).abs() < 0.07);
    let quiet = Family {
        noise: 0.0,
        ..family
    };
    assert_eq!(quiet.loss(7, 3.0), quiet.true_loss(7, 3.0));
}

/// Tests that early losses are only a rough guide to final losses, and that curves cross.
#[test]
fn early_losses_are_related_to_the_last() {
    let family = Family::default();
    let at = |resource: f64| -> Vec<f64> {
        (0..TRIALS)
            .map(|trial| family.true_loss(trial, resource))
            .collect()
    };
    let (early, late) = (at(1.0), at(81.0));
    let related = correlation(&early, &late);
    assert!((0.5..0.95).contains(&related), "{related}");
    let pairs = (1..TRIALS as usize).map(|i| (i - 1, i));
    let crossing = pairs
        .filter(|&(i, j)| (early[i] < early[j]) != (late[i] < late[j]))
        .count();
    assert!(crossing > 100, "{crossing}");
}

/// The losses drawn for a seed must not change from release to release.
#[test]
fn draws_stay_the_same() {
    let family = Family {
        seed: 42,
        ..Family::default()
    };
    let found = [
        family.true_loss(0, 1.0),
        family.loss(0, 1.0),
        family.loss(1, 81.0),
        family.loss(u32::MAX, 2.5),
    ];
    let expected = [
        1.400_036_999_149_438_8,
        1.399_515_578_767_636_5,
        0.817_315_257_464_407_8,
        2.178_381_496_630_959_4,
    ];
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{found}");
    }
    assert_ne!(family.curve(3, None), Family::default().curve(3, None));
}

#[test]
fn negative_amplitudes_and_rates_count_as_none() {
    let below = Draw::Normal {
        mean: -5.0,
        deviation: 0.0,
    };
    let family = Family {
        amplitude: below,
        rate: below,
        ..Family::default()
    };
    let curve = family.curve(0, None);
    assert_eq!((curve.amplitude, curve.rate), (0.0, 0.0));
    assert_eq!(family.true_loss(0, 9.0), curve.floor);
}

#[test]
fn all_faults_of_a_family() {
    let wrong = Family {
        seed: 0,
        floor: Draw::Normal {
            mean: f64::NAN,
            deviation: -1.0,
        },
        amplitude: Draw::Uniform {
            low: -1.0,
            high: f64::INFINITY,
        },
        rate: Draw::LogUniform {
            low: 0.5,
            high: 0.25,
        },
        scale: 0.0,
        noise: f64::NAN,
    };
    let faults = wrong.validate().unwrap_err();
    let found: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "floor.normal.mean: found NaN, expected a number between -1e100 and 1e100",
            "floor.normal.deviation: found -1, expected a number of at least 0 and at most 1e100",
            "amplitude.uniform.low: found -1, expected a number of at least 0 and at most 1e100",
            "amplitude.uniform.high: found inf, expected a number of at least 0 and at most 1e100",
            "rate.log-uniform.high: found 0.25, expected at least rate.log-uniform.low, which is 0.5",
            "scale: found 0, expected a number above 0 and at most 1e100",
            "noise: found NaN, expected a number of at least 0 and at most 1e100",
        ]
    );
    let zero = Draw::LogUniform {
        low: 0.0,
        high: 1.0,
    };
    let wrong = Family {
        floor: zero,
        ..Family::default()
    };
    assert_eq!(wrong.validate().unwrap_err().len(), 1);
}

#[test]
fn families_in_files() {
    let family: Family = serde_json::from_str("{}").unwrap();
    assert_eq!(family, Family::default());
    assert_eq!(family.validate(), Ok(()));
    let text = r#"{"floor": {"log-uniform": {"low": 0.5, "high": 1}}, "noise": 0}"#;
    let family: Family = serde_json::from_str(text).unwrap();
    assert_eq!(family.noise, 0.0);
    let written = serde_json::to_string(&family).unwrap();
    assert_eq!(serde_json::from_str::<Family>(&written).unwrap(), family);
    assert!(serde_json::from_str::<Family>(r#"{"slope": 1}"#).is_err());
    let extra = r#"{"floor": {"uniform": {"low": 0, "high": 1, "mean": 2}}}"#;
    assert!(serde_json::from_str::<Family>(extra).is_err());
}

/// Generates numbers, most of which are valid parameters.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![20 => 0.0_f64..=1e100, 20 => 1e-9_f64..10.0, 1 => Just(0.0), 1 => proptest::num::f64::ANY]
}

fn points(of: &[(f64, f64)]) -> Vec<Point> {
    let point = |&(resource, loss): &(f64, f64)| Point { resource, loss };
    of.iter().map(point).collect()
}

#[test]
fn a_table_is_linear_between_its_points() {
    let trials = [
        (0, points(&[(1.0, 4.0), (3.0, 2.0), (4.0, 3.0)])),
        (1, points(&[(5.0, 0.5)])),
        (2, points(&[(0.0, 1e308), (1.0, -1e308)])),
    ];
    let table = Table::new(BTreeMap::from(trials)).unwrap();
    let curves = LearningCurves::Table(table);
    let expected = [
        (0.0, 4.0),
        (1.0, 4.0),
        (2.0, 3.0),
        (3.0, 2.0),
        (3.5, 2.5),
        (4.0, 3.0),
        (9.0, 3.0),
    ];
    for (resource, loss) in expected {
        assert_eq!(curves.loss(0, resource), loss);
        assert_eq!(curves.true_loss(0, resource), loss);
        assert_eq!(curves.loss(1, resource), 0.5);
    }
    assert_eq!(curves.loss(2, 0.5), 0.0);
    assert!(curves.loss(3, 1.0).is_nan());
    assert_eq!(curves.trials_known(), Some(3));
    assert_eq!(
        LearningCurves::Family(Family::default()).trials_known(),
        None
    );
}

// A small fixed example: trial 0 diverges after resource 2 and recovers at resource 4, and trial 1 diverges at once.
#[test]
fn losses_that_are_not_finite_are_those_of_diverged_trials() {
    let trials = [
        (
            0,
            points(&[(1.0, 3.0), (2.0, 2.0), (3.0, f64::NAN), (4.0, 1.0)]),
        ),
        (1, points(&[(1.0, f64::NEG_INFINITY)])),
    ];
    let table = Table::new(BTreeMap::from(trials)).unwrap();
    for (resource, loss) in [(0.5, 3.0), (1.5, 2.5), (2.0, 2.0), (4.0, 1.0), (9.0, 1.0)] {
        assert_eq!(table.loss(0, resource), loss, "at {resource}");
    }
    for resource in [2.25, 3.0, 3.5] {
        assert_eq!(table.loss(0, resource), f64::INFINITY, "at {resource}");
    }
    assert_eq!(table.loss(1, 1.0), f64::INFINITY);
    assert_eq!((table.start(0), table.start(2)), (Some(1.0), None));
}

#[test]
fn all_faults_of_a_table() {
    let trials = [
        (
            0,
            points(&[
                (1.0, f64::NAN),
                (1.0, 2.0),
                (f64::INFINITY, 1.0),
                (-1.0, 1.0),
                (0.5, 1.0),
            ]),
        ),
        (2, vec![]),
    ];
    let faults = Table::new(BTreeMap::from(trials)).unwrap_err();
    let found: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "trials: found trial 2, expected trial 1: trials are numbered 0, 1, 2, …",
            "0[1].resource: found 1, expected above 1, the previous resource",
            "0[2].resource: found inf, expected a finite number of at least 0",
            "0[3].resource: found -1, expected a finite number of at least 0",
            "0[4].resource: found 0.5, expected above 1, the previous resource",
            "2: found nothing, expected at least one point",
        ]
    );
    assert_eq!(Table::new(BTreeMap::new()).unwrap_err().len(), 1);
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    /// The loss of a trial at a resource must not depend on the order of the queries.
    #[test]
    fn a_loss_depends_on_the_trial_and_the_resource(seed: u64, asked in proptest::collection::vec((0_u32..9, 0.0_f64..99.0), 1..20)) {
        let curves = LearningCurves::Family(Family { seed, ..Family::default() });
        let forth: Vec<f64> = asked.iter().map(|&(trial, resource)| curves.loss(trial, resource)).collect();
        let mut back: Vec<f64> = asked.iter().rev().map(|&(trial, resource)| curves.loss(trial, resource)).collect();
        back.reverse();
        prop_assert_eq!(forth, back);
    }

    #[test]
    fn curves_fall_towards_their_floors(seed: u64, trial: u32, a in 0.0_f64..1e6, b in 0.0_f64..1e6) {
        let family = Family { seed, ..Family::default() };
        let (less, more) = (a.min(b), a.max(b));
        prop_assert!(family.true_loss(trial, less) >= family.true_loss(trial, more));
        prop_assert!(family.true_loss(trial, more) >= family.curve(trial, None).floor);
    }

    #[test]
    fn losses_of_valid_families_are_finite(
        seed: u64,
        trial: u32,
        numbers in proptest::array::uniform8(number()),
        resource in prop_oneof![0.0..f64::MAX, 0.0..100.0],
    ) {
        let [a, b, c, d, e, f, scale, noise] = numbers;
        let family = Family {
            seed,
            floor: Draw::Normal { mean: a, deviation: b },
            amplitude: Draw::Uniform { low: c.min(d), high: c.max(d) },
            rate: Draw::LogUniform { low: e.min(f), high: e.max(f) },
            scale,
            noise,
        };
        // Drawing a loss does not panic, even if the family is invalid.
        let loss = family.loss(trial, resource);
        prop_assert!(loss.is_finite() || family.validate().is_err());
    }

    #[test]
    fn a_table_stays_between_neighbours(
        mut losses in proptest::collection::vec((0.0_f64..100.0, -5.0_f64..5.0), 1..20),
        resource in -1.0_f64..110.0,
    ) {
        losses.sort_by(|a, b| a.0.total_cmp(&b.0));
        losses.dedup_by(|a, b| a.0 == b.0);
        let table = Table::new(BTreeMap::from([(0, points(&losses))])).unwrap();
        for &(at, loss) in &losses {
            prop_assert_eq!(table.loss(0, at), loss);
        }
        let before = losses.iter().rfind(|point| point.0 <= resource).unwrap_or(&losses[0]);
        let after = losses.iter().find(|point| point.0 >= resource).unwrap_or(&losses[losses.len() - 1]);
        let found = table.loss(0, resource);
        prop_assert!(found >= before.1.min(after.1) - 1e-9 && found <= before.1.max(after.1) + 1e-9);
    }
}
