//! Writes the answers of solvers as JSON lines.

use gleaner_solvers::{Allocation, Fairness, Status};
use serde::Serialize;

use gleaner_domain::error::{Error, Result};

/// A solver's answer to a problem.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Id of the problem.
    pub id: String,
    /// Name of the solver.
    pub solver: String,
    /// The plan of the solver.
    pub allocation: Allocation,
    /// Wall time of the solver.
    pub microseconds: u64,
}

/// A line of the output of `gleaner solve`.
#[derive(Debug, Serialize)]
struct Line<'a> {
    id: &'a str,
    solver: &'a str,
    status: Status,
    objective: Option<f64>,
    bound: Option<f64>,
    gap: Option<f64>,
    counts: &'a Option<Vec<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fairness: Option<Fairness>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a str>,
    microseconds: u64,
}

/// An answer as one JSON line.
///
/// # Errors
/// The serialiser fails, which does not happen in practice.
pub fn line(answer: &Answer) -> Result<String> {
    let allocation = &answer.allocation;
    let line = Line {
        id: &answer.id,
        solver: &answer.solver,
        status: allocation.status,
        // An empty sum is -0, which this addition turns into 0.
        objective: allocation.objective.map(|objective| objective + 0.0),
        bound: allocation.bound,
        gap: allocation.gap(),
        counts: &allocation.counts,
        fairness: allocation.fairness,
        failure: allocation.failure.as_deref(),
        microseconds: answer.microseconds,
    };
    serde_json::to_string(&line)
        .map(|text| text + "\n")
        .map_err(|e| Error::Run(e.to_string()))
}
