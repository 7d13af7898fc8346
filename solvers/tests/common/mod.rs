//! Helpers shared by the crate's integration tests.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::path::Path;

use gleaner_solvers::{Allocation, BigM, Problem, check};

/// A reference problem with the optima of the original system.
#[derive(Debug, serde::Deserialize)]
pub struct Reference {
    #[serde(flatten)]
    pub problem: Problem,
    pub optimum: f64,
    pub paper_optimum_dp: f64,
}

/// The 400 reference problems, or `None`, with a word to stderr, where they are missing.
pub fn reference_problems() -> Option<Vec<Reference>> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/bftrainer/problems.jsonl");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: {} is missing", path.display());
        return None;
    };
    Some(
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
    )
}

/// Asserts that `answer` passes the checker and reaches `optimum` to 1e-6 relative.
pub fn assert_reaches(problem: &Problem, answer: &Allocation, big_m: BigM, optimum: f64) {
    if let Err(violations) = check(problem, answer, big_m) {
        panic!("{}: {violations:?}", problem.id);
    }
    let found = answer.objective.unwrap();
    assert!(
        (found - optimum).abs() <= 1e-6 * optimum.abs().max(1e-9),
        "{}: objective {found}, expected {optimum}",
        problem.id
    );
}
