//! Tests of settings: rungs, brackets and faults.

use gleaner_search::{Algorithm, Bracket, MAX_JOBS, Plan, Search};

fn plan(algorithm: Algorithm, trials: Option<u32>, eta: u32, resources: (f64, f64)) -> Plan {
    Plan {
        algorithm,
        trials,
        eta,
        min_resource: resources.0,
        max_resource: resources.1,
    }
}

fn hyperband(eta: u32, resources: (f64, f64)) -> Plan {
    plan(Algorithm::Hyperband, None, eta, resources)
}

fn sizes(bracket: &Bracket) -> Vec<(u32, f64)> {
    let rungs = bracket.rungs.iter();
    rungs.map(|rung| (rung.trials, rung.resource)).collect()
}

/// The example of Li et al. 2018 (R = 81, eta = 3), with n computed by their Algorithm 1.
#[test]
fn brackets_of_hyperband() {
    let brackets = hyperband(3, (1.0, 81.0)).brackets();
    let numbers: Vec<u32> = brackets.iter().map(|bracket| bracket.number).collect();
    assert_eq!(numbers, [4, 3, 2, 1, 0]);
    let expected: [&[(u32, f64)]; 5] = [
        &[(81, 1.0), (27, 3.0), (9, 9.0), (3, 27.0), (1, 81.0)],
        &[(34, 3.0), (11, 9.0), (3, 27.0), (1, 81.0)],
        &[(15, 9.0), (5, 27.0), (1, 81.0)],
        &[(8, 27.0), (2, 81.0)],
        &[(5, 81.0)],
    ];
    let found: Vec<Vec<(u32, f64)>> = brackets.iter().map(sizes).collect();
    assert_eq!(found, expected);
}

#[test]
fn rungs_of_whole_powers() {
    // log(243)/log(3) is 4.999… and log(1000)/log(10) 2.999… in floating-point arithmetic.
    for (eta, steps) in [
        (2_u32, 19),
        (3, 5),
        (3, 11),
        (5, 3),
        (7, 6),
        (10, 3),
        (10, 5),
    ] {
        let most = f64::from(eta.pow(steps));
        let powers: Vec<f64> = (0..=steps).map(|k| f64::from(eta.pow(k))).collect();
        assert_eq!(
            plan(Algorithm::Asha, Some(1), eta, (1.0, most)).rungs(),
            powers
        );
        assert_eq!(hyperband(eta, (1.0, most)).rungs(), powers);
        let below = hyperband(eta, (1.0, most - 1.0)).rungs();
        assert_eq!(below.len(), steps as usize);
        let scaled = plan(Algorithm::Asha, Some(1), eta, (0.1, 0.1 * most)).rungs();
        assert_eq!(scaled.len(), powers.len(), "{scaled:?}");
    }
}

#[test]
fn rungs_of_resources_that_do_not_fit() {
    let upward = |resources| plan(Algorithm::SuccessiveHalving, Some(99), 3, resources).rungs();
    assert_eq!(upward((1.0, 10.0)), [1.0, 3.0, 9.0, 10.0]);
    assert_eq!(upward((1.0, 8.0)), [1.0, 3.0, 8.0]);
    assert_eq!(upward((2.0, 2.0)), [2.0]);
    assert_eq!(upward((0.3, 2.7)).len(), 3);
    assert_eq!(
        hyperband(3, (1.0, 10.0)).rungs(),
        [10.0 / 9.0, 10.0 / 3.0, 10.0]
    );
    assert_eq!(hyperband(3, (0.1, 2.7)).rungs().len(), 4);
    let evenly = |resources| plan(Algorithm::Median, Some(9), 3, resources).rungs();
    assert_eq!(evenly((2.0, 7.0)), [2.0, 4.0, 6.0, 7.0]);
    assert_eq!(evenly((0.1, 0.3)).len(), 3);
    assert_eq!(
        plan(Algorithm::Random, Some(5), 3, (1.0, 10.0)).rungs(),
        [10.0]
    );
}

/// The faults in a plan, as text.
fn faults(plan: &Plan) -> Vec<String> {
    let faults = plan.validate().unwrap_err();
    assert_eq!(Search::new(plan.clone()).unwrap_err(), faults);
    faults.iter().map(ToString::to_string).collect()
}

#[test]
fn all_fields_out_of_range_are_named() {
    let wrong = plan(Algorithm::Asha, None, 1, (-1.0, f64::NAN));
    assert_eq!(
        faults(&wrong),
        [
            "trials: found nothing, expected a number of at least 1",
            "eta: found 1, expected a number of at least 2",
            "min_resource: found -1, expected a finite number above 0",
            "max_resource: found NaN, expected a finite number above 0",
        ]
    );
    let wrong = plan(Algorithm::Hyperband, Some(3), 3, (2.0, 1.0));
    assert_eq!(
        faults(&wrong),
        [
            "trials: found 3, expected nothing: hyperband derives the number of trials from the resources",
            "max_resource: found 1, expected at least min_resource, which is 2",
        ]
    );
    for algorithm in [
        Algorithm::Random,
        Algorithm::SuccessiveHalving,
        Algorithm::Asha,
    ] {
        let wrong = plan(algorithm, Some(0), 3, (1.0, f64::INFINITY));
        assert_eq!(faults(&wrong).len(), 2);
    }
    // Random search does not use `min_resource`.
    assert_eq!(
        plan(Algorithm::Random, Some(5), 2, (1.0, 0.5)).validate(),
        Ok(())
    );
}

#[test]
fn successive_halving_needs_trials_for_each_rung() {
    let with = |trials| plan(Algorithm::SuccessiveHalving, Some(trials), 3, (1.0, 81.0));
    assert_eq!(with(81).validate(), Ok(()));
    assert_eq!(
        faults(&with(80)),
        [
            "trials: found 80, expected at least 81, so that one trial reaches the last of 5 rungs with eta 3"
        ]
    );
    let far = plan(Algorithm::SuccessiveHalving, Some(80), 2, (1.0, 1e12));
    assert!(faults(&far)[0].contains("at least 2^40, so"));
    assert_eq!(
        plan(Algorithm::Asha, Some(1), 3, (1.0, 81.0)).validate(),
        Ok(())
    );
}

#[test]
fn jobs_and_rungs_are_bounded() {
    assert_eq!(MAX_JOBS, 1_000_000);
    let asha = |trials, most| plan(Algorithm::Asha, Some(trials), 2, (1.0, most));
    assert_eq!(asha(200_000, 16.0).validate(), Ok(()));
    assert_eq!(
        faults(&asha(200_001, 16.0)),
        ["trials: found 200001, expected at most 1000000 jobs (trials times rungs), not 1000005"]
    );
    assert_eq!(asha(1, 2_f64.powi(63)).validate(), Ok(()));
    assert_eq!(
        faults(&asha(1, 2_f64.powi(64))),
        [
            "max_resource: found 18446744073709552000, expected at most 64 rungs: reduce max_resource, or raise min_resource above 1 or eta above 2"
        ]
    );
    assert_eq!(
        faults(&plan(Algorithm::Random, Some(u32::MAX), 2, (1.0, 1.0))).len(),
        1
    );
    // 15 brackets have about 15·2^15 jobs; 16 brackets have about 16·2^16.
    let band = |s_max| hyperband(2, (1.0, 2_f64.powi(s_max)));
    assert_eq!(band(14).validate(), Ok(()));
    assert!(
        faults(&band(15))[0]
            .starts_with("max_resource: found 32768, expected at most 1000000 jobs")
    );
    let huge = [
        (2, 1e300),
        (3, 2_f64.powi(63)),
        (u32::MAX, 1e300),
        (7, 1e30),
    ];
    for (eta, most) in huge {
        let text = faults(&hyperband(eta, (1.0, most)));
        assert!(
            text.len() == 1 && text[0].starts_with("max_resource: "),
            "{text:?}"
        );
    }
    let tiny = f64::from_bits(1);
    assert_eq!(faults(&hyperband(u32::MAX, (tiny, f64::MAX))).len(), 1);
}

#[test]
fn names_and_files() {
    for algorithm in Algorithm::ALL {
        let name = algorithm.to_string();
        assert_eq!(name.parse(), Ok(algorithm));
        assert_eq!(
            serde_json::to_string(&algorithm).unwrap(),
            format!("{name:?}")
        );
    }
    let wrong = "sha".parse::<Algorithm>().unwrap_err().to_string();
    assert_eq!(
        wrong,
        "unknown algorithm \"sha\": expected random, successive-halving, asha, hyperband, median, pbt or bohb"
    );
    let text = r#"{"algorithm": "asha", "trials": 40, "max_resource": 27}"#;
    let read: Plan = serde_json::from_str(text).unwrap();
    assert_eq!(read, plan(Algorithm::Asha, Some(40), 3, (1.0, 27.0)));
    let written = serde_json::to_string(&read).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&written).unwrap(), read);
    let unknown = r#"{"algorithm": "asha", "trials": 40, "max_resource": 27, "loops": 2}"#;
    assert!(serde_json::from_str::<Plan>(unknown).is_err());
}
