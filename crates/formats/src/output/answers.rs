//! Answers of solvers as JSON lines.

use gleaner_solvers::{Allocation, Fairness, Problem, Status};
use serde::Serialize;

use gleaner_core::error::{Error, Result};

/// One line of `gleaner solve`.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    id: &'a str,
    solver: &'a str,
    status: Status,
    objective: Option<f64>,
    bound: Option<f64>,
    gap: Option<f64>,
    counts: &'a Option<Vec<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fairness: Option<Fairness>,
    microseconds: u64,
}

/// The answer to `problem` as one JSON line.
///
/// # Errors
/// Never in practice. A failure of the serialiser is passed on.
pub fn line(
    problem: &Problem,
    solver: &str,
    answer: &Allocation,
    microseconds: u64,
) -> Result<String> {
    let answer = Answer {
        id: &problem.id,
        solver,
        status: answer.status,
        // An empty sum is -0; this makes it 0.
        objective: answer.objective.map(|objective| objective + 0.0),
        bound: answer.bound,
        gap: answer.gap(),
        counts: &answer.counts,
        fairness: answer.fairness,
        microseconds,
    };
    serde_json::to_string(&answer)
        .map(|text| text + "\n")
        .map_err(|e| Error::Run(e.to_string()))
}
