//! Tests that plans found during a search are reported when they arrive, and only if they are valid.

use std::process::Command;
use std::time::Duration;

use gleaner_exec_solver::External;
use gleaner_solvers::{Allocation, BigM, Incumbent, Limits, Solver, synthetic};

/// The plans that a test program reports for a problem, and its answer. Without Python, prints a
/// note and returns `None`.
fn observed(program: &str, seconds: f64) -> Option<(Vec<Incumbent>, Allocation)> {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: python3 is not installed, and the programs are written in it");
        return None;
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");
    let command = format!("exec:python3 {folder}/{program}");
    let mut solver = External::start(command.parse().unwrap(), BigM::default()).unwrap();
    let limits = Limits {
        time: Duration::from_secs_f64(seconds),
        ..Limits::default()
    };
    let mut seen = Vec::new();
    let problem = synthetic::problem(4, 12, 0);
    let answer = solver.solve_observed(&problem, &limits, &mut |found| seen.push(found));
    Some((seen, answer.unwrap()))
}

// The program waits 20 ms after each of its two plans.
#[test]
fn plans_are_told_when_they_come() {
    let Some((seen, answer)) = observed("steps.py", 10.0) else {
        return;
    };
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[2].plan.counts, answer.counts);
    assert!(seen[1].after >= Duration::from_millis(20));
    assert!(seen[2].after >= Duration::from_millis(40));
    assert!(seen.is_sorted_by(|a, b| a.plan.objective < b.plan.objective));
}

#[test]
fn a_late_program_has_told_its_plan_in_time() {
    let Some((seen, answer)) = observed("bad.py incumbent-then-hangs", 3.0) else {
        return;
    };
    assert_eq!(seen.len(), 1);
    assert!(seen[0].after < Duration::from_secs(3));
    assert_eq!(seen[0].plan.counts, answer.counts);
}

#[test]
fn plans_that_break_the_problem_are_not_told() {
    let Some((seen, answer)) = observed("bad.py too-many", 10.0) else {
        return;
    };
    assert_eq!((seen, answer.counts), (vec![], None));
}
