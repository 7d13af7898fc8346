//! Checks seeds, numbers of cases and saved cases with a property that fails above a bound.
//!
//! The property runs in separate processes, because a process reads the environment only once.

#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

use std::env;
use std::fs;
use std::process::Command;

use gleaner_testing::{FACTOR, SEED, SavedCases};
use proptest::prelude::*;

const HIGHEST: u32 = 1_000_000;
const BOUND: &str = "GLEANER_TESTING_BOUND";
const SEED_VARIABLE: &str = "PROPTEST_RNG_SEED";

proptest! {
    #![proptest_config(gleaner_testing::cases(64))]

    #[test]
    #[ignore = "fails on purpose"]
    fn numbers_are_below_a_bound(number in 0..HIGHEST) {
        let bound: u32 = env::var(BOUND).unwrap().parse().unwrap();
        println!("drawn {number}");
        prop_assert!(number < bound);
    }
}

/// The values that a run of the property printed, and its result.
struct Run {
    drawn: Vec<u32>,
    passed: bool,
}

fn run(bound: u32, settings: &[(&str, String)]) -> Run {
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", "numbers_are_below_a_bound"])
        .args(["--ignored", "--nocapture"])
        .env_remove(SEED_VARIABLE)
        .env_remove(FACTOR)
        .env(BOUND, bound.to_string())
        .envs(settings.iter().map(|(name, value)| (name, value)))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let number = |line: &str| Some(line.split_once("drawn ")?.1.parse().unwrap());
    Run {
        drawn: text.lines().filter_map(number).collect(),
        passed: output.status.success(),
    }
}

fn seed(seed: u64) -> (&'static str, String) {
    (SEED_VARIABLE, seed.to_string())
}

#[test]
fn seeds_are_fixed_cases_are_multiplied_and_failures_are_saved() {
    let file = SavedCases::in_workspace().file(file!());
    let _ = fs::remove_file(&file);
    // By default, the cases are drawn with the fixed seed. Another seed produces other cases.
    let plain = run(HIGHEST, &[]);
    assert!(plain.passed);
    assert_eq!(plain.drawn.len(), 64);
    assert_eq!(run(HIGHEST, &[seed(SEED)]).drawn, plain.drawn);
    assert_ne!(run(HIGHEST, &[seed(SEED + 1)]).drawn, plain.drawn);
    let many = run(HIGHEST, &[(FACTOR, "3".to_owned())]);
    assert_eq!(many.drawn.len(), 192);
    assert!(!run(HIGHEST, &[(FACTOR, "none".to_owned())]).passed);
    assert!(!file.exists());

    // The first case that fails is saved. The next run begins with the saved case, whatever the
    // run's seed.
    let failed = run(HIGHEST / 2, &[]);
    assert!(!failed.passed);
    let above = |number: &&u32| **number >= HIGHEST / 2;
    let wrong = *failed.drawn.iter().find(above).unwrap();
    assert_ne!(failed.drawn[0], wrong, "the first case fails already");
    let again = run(HIGHEST / 2, &[seed(SEED + 1)]);
    assert!(!again.passed);
    assert_eq!(again.drawn[0], wrong);
    // The saved case is still run first when the property holds, and is not one of the counted
    // cases.
    let mended = run(HIGHEST, &[]);
    assert!(mended.passed);
    assert_eq!(mended.drawn[0], wrong);
    assert_eq!(mended.drawn[1..], plain.drawn);
    fs::remove_file(&file).unwrap();
}
