//! Tests that the examples in solvers/python follow the protocol and agree with the exact solver.

use std::process::Command;

use gleaner_domain::Unobserved;
use gleaner_exec_solver::conformance::{Verdict, conformance};
use gleaner_exec_solver::{External, SolverCommand};
use gleaner_solvers::{BigM, Limits, Problem, Solver};

/// Returns the command of an example if Python has the module that the example needs; otherwise prints a note and
/// returns `None`.
pub fn example(file: &str, module: &str) -> Option<SolverCommand> {
    let import = format!("import {module}");
    let python = std::env::var("GLEANER_PYTHON").unwrap_or("python3".into());
    let found = Command::new(&python).args(["-c", &import]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: {python} has no {module} (GLEANER_PYTHON names another Python)");
        return None;
    }
    let path = gleaner_testing::workspace()
        .join("solvers/python")
        .join(file);
    Some(
        format!("exec:{python} '{}'", path.display())
            .parse()
            .unwrap(),
    )
}

#[track_caller]
fn passes_all(command: &SolverCommand, skipped: usize) {
    let mut checks = Vec::new();
    conformance(command, &Unobserved, &mut |check| checks.push(check)).unwrap();
    let failed: Vec<_> = checks
        .iter()
        .filter(|c| matches!(c.verdict, Verdict::Failed(_)))
        .collect();
    assert!(failed.is_empty(), "{failed:?}");
    let skips = checks
        .iter()
        .filter(|c| matches!(c.verdict, Verdict::Skipped(_)))
        .count();
    assert_eq!((checks.len(), skips), (8, skipped));
}

/// The 400 reference problems of the original implementation.
fn problems() -> Option<Vec<Problem>> {
    let path = gleaner_testing::shared("bftrainer/problems.jsonl")?;
    let text = std::fs::read_to_string(path).unwrap();
    Some(
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
    )
}

#[track_caller]
fn agrees(command: SolverCommand) {
    let Some(problems) = problems() else { return };
    let mut solver = External::start(command, BigM::default()).unwrap();
    for problem in &problems {
        solver.solve(problem, &Limits::default()).unwrap();
    }
    let tally = solver.tally().get();
    assert_eq!(tally.remark(), None);
    assert_eq!((tally.problems, tally.confirmed), (400, 400));
}

#[test]
fn the_example_without_libraries_keeps_to_the_protocol() {
    if let Some(command) = example("dp.py", "json") {
        passes_all(&command, 2);
        agrees(command);
    }
}

#[test]
fn the_example_with_cp_sat_keeps_to_the_protocol() {
    if let Some(command) = example("cp_sat.py", "ortools") {
        passes_all(&command, 1);
        agrees(command);
    }
}

#[test]
fn the_example_with_classes_keeps_to_the_protocol() {
    if let Some(command) = example("classes.py", "json") {
        passes_all(&command, 1);
    }
}
