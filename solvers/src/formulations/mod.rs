//! The ways of writing a [`Problem`] down as a mixed-integer linear program.
//!
//! Each formulation builds a [`Model`], turns counts into column values (a
//! start solution) and column values back into counts. Objective coefficients
//! are in the problem's own units; backends scale them for their library.

pub mod counts;
pub mod export;
pub mod fair;
pub mod paper;

use crate::model::Model;
use crate::{BigM, Formulation, Goal, Problem, SolveError};

/// Most columns that [`build`] writes down: beyond it a model is gigabytes large.
pub const MAX_COLUMNS: u64 = 10_000_000;

/// Number of columns of the model that [`build`] would return.
pub fn columns(problem: &Problem, formulation: Formulation, big_m: BigM) -> u64 {
    match formulation {
        Formulation::Counts => counts::columns(problem, big_m),
        Formulation::Paper => paper::columns(problem),
    }
}

/// Writes `problem`, which must be sound, down as a model; under a max-min goal as that of
/// the level ([`fair::level`]).
///
/// # Errors
/// [`SolveError::SideConstraint`] for groups and [`SolveError::Goal`] for a max-min goal in
/// the paper formulation, and
/// [`SolveError::Invalid`] for a state or a size that the formulation cannot
/// represent.
pub fn build(
    problem: &Problem,
    formulation: Formulation,
    big_m: BigM,
) -> Result<Model, SolveError> {
    let columns = columns(problem, formulation, big_m);
    if columns > MAX_COLUMNS {
        return Err(SolveError::Invalid(vec![format!(
            "its model would have {columns} columns, more than the {MAX_COLUMNS} that are \
             written down: use the exact solver"
        )]));
    }
    let model = match (formulation, problem.goal) {
        (Formulation::Counts, Goal::Total) => counts::build(problem, big_m),
        (Formulation::Counts, Goal::MaxMin) => fair::level(problem, big_m),
        (Formulation::Paper, Goal::Total) => paper::build(problem, big_m)?,
        (Formulation::Paper, Goal::MaxMin) => return Err(SolveError::Goal { solver: "paper" }),
    };
    let finite = model.columns.iter().all(|c| c.objective.is_finite());
    if finite {
        Ok(model)
    } else {
        Err(SolveError::out_of_range())
    }
}

/// Values of the columns of [`build`]'s model that state the plan `counts`.
pub fn encode(problem: &Problem, formulation: Formulation, big_m: BigM, plan: &[u32]) -> Vec<f64> {
    match formulation {
        Formulation::Counts => counts::encode(problem, big_m, plan),
        Formulation::Paper => paper::encode(problem, plan),
    }
}

/// The plan that values of the columns of [`build`]'s model state.
///
/// Values that are not whole are rounded, so the result may break a
/// constraint: check it before use.
pub fn decode(
    problem: &Problem,
    formulation: Formulation,
    big_m: BigM,
    values: &[f64],
) -> Vec<u32> {
    match formulation {
        Formulation::Counts => counts::decode(problem, big_m, values),
        Formulation::Paper => paper::decode(problem, values),
    }
}
