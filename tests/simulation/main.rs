//! Deterministic simulation of the core, with virtual time and one seed for each run, and without threads, files and
//! clocks.
//!
//! A world of nodes, a batch scheduler, pilots, a network, programs and users surrounds the core. Each of these parts
//! can fail at any moment. The world knows the true state of all parts, and constantly compares it with the
//! [invariants](checks::Invariant). If an invariant fails, the [plan](plan::Plan) of the run is shrunk, and the report
//! contains the shrunk plan and its trace.
//!
//! `SIMULATION_SEEDS=7 cargo test --release --features harvest --test simulation chosen_seeds -- --ignored --nocapture`
//! prints the trace of seed 7. `SIMULATION_SEEDS=0..10000` runs a range of seeds and prints those that fail.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

mod checks;
mod classes;
mod daemon;
mod decider;
mod groups;
mod network;
mod noise;
mod pilot;
mod plan;
mod program;
mod sabotage;
mod scheduler;
mod shrink;
mod trials;
mod users;
mod world;

use checks::{Invariant, Violation};
use plan::Plan;
use proptest::prelude::*;
use sabotage::Sabotage;
use shrink::violation;
use world::{Figures, World};

proptest! {
    #![proptest_config(gleaner_testing::slow_cases(1000, 4))]

    // `no_shrink`: a smaller seed is not a simpler case. The test shrinks a failing plan itself.
    #[test]
    fn every_invariant_holds(seed in any::<u64>().no_shrink()) {
        let plan = Plan::new(seed);
        if violation(&plan, None).is_some() {
            return Err(TestCaseError::fail(shrink::report(&plan, None)));
        }
    }
}

/// Runs the plan of a seed. Returns the result and the trace.
fn traced(seed: u64) -> (Result<Figures, Violation>, Vec<String>) {
    let mut world = World::new(Plan::new(seed), None);
    world.trace = Some(Vec::new());
    let result = world.run();
    (result, world.trace.unwrap_or_default())
}

#[test]
#[ignore = "needs SIMULATION_SEEDS"]
fn chosen_seeds() {
    let chosen = std::env::var("SIMULATION_SEEDS")
        .expect("SIMULATION_SEEDS: a seed, or a range such as 0..100");
    let Some((first, end)) = chosen.split_once("..") else {
        let (result, trace) = traced(chosen.parse().unwrap());
        println!("{}\n{result:?}", trace.join("\n"));
        return;
    };
    let mut figures = Figures::default();
    let mut failed = Vec::new();
    for seed in first.parse().unwrap()..end.parse().unwrap() {
        match World::new(Plan::new(seed), None).run() {
            Ok(own) => figures.add(&own),
            Err(violation) => failed.push((seed, violation)),
        }
    }
    println!("{figures:?}");
    for (seed, violation) in &failed {
        println!("{seed}: {violation:?}");
    }
    assert!(failed.is_empty(), "{} seeds fail", failed.len());
}

#[test]
fn a_seed_gives_the_same_run_each_time() {
    for seed in 0..5 {
        assert_eq!(traced(seed), traced(seed));
    }
}

/// Number of seeds that are tried. At least one of them must reveal each sabotage.
const SABOTAGED: u64 = 1000;

#[test]
fn every_invariant_can_fail() {
    let mut missed = Vec::new();
    for (sabotage, expected) in sabotage::ALL {
        let reveals = |seed: &u64| {
            let found = violation(&Plan::new(*seed), Some(*sabotage));
            found.is_some_and(|found| expected.contains(&found.invariant))
        };
        match (0..SABOTAGED).find(reveals) {
            Some(seed) => println!("{sabotage:?}: revealed by seed {seed}"),
            None => missed.push(sabotage),
        }
    }
    assert!(missed.is_empty(), "not revealed: {missed:?}");
}

#[test]
fn every_invariant_has_a_sabotage() {
    for invariant in Invariant::ALL {
        let mut expected = sabotage::ALL.iter().map(|(_, expected)| expected);
        assert!(
            expected.any(|expected| expected.contains(invariant)),
            "{invariant:?}"
        );
    }
}

#[test]
fn a_shrunk_plan_fails_only_as_a_whole() {
    let sabotage = Some(Sabotage::SilentIsOver);
    let fails = |plan: &Plan| {
        violation(plan, sabotage).is_some_and(|found| found.invariant == Invariant::OneRun)
    };
    let plan = (0..SABOTAGED).map(Plan::new).find(fails).unwrap();
    let small = shrink::shrunk(&plan, sabotage);
    assert!(small.acts.len() < plan.acts.len());
    assert!(fails(&small));
    for act in 0..small.acts.len() {
        let mut fewer = small.clone();
        fewer.acts.remove(act);
        assert!(!fails(&fewer), "{:?} is not needed", small.acts[act]);
    }
    let report = shrink::report(&plan, sabotage);
    assert!(report.contains("VIOLATION of OneRun"), "{report}");
}
