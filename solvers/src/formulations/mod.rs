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
use crate::{BigM, Formulation, Goal, Problem, SolveError, range};

/// Most columns that [`build`] writes down: beyond it a model is gigabytes large.
pub const MAX_COLUMNS: u64 = 10_000_000;

/// Number of columns of the model that [`build`] would return.
pub fn columns(problem: &Problem, formulation: Formulation, big_m: BigM) -> u64 {
    match formulation {
        Formulation::Counts => counts::columns(problem, big_m),
        Formulation::Paper => paper::columns(problem),
    }
}

/// Whether the formulation can state the problem.
///
/// # Errors
/// In the paper formulation [`SolveError::SideConstraint`] for groups, [`SolveError::Goal`]
/// for a max-min goal, and [`SolveError::Unfit`] for tasks that hold more nodes than are idle.
pub fn accepts(problem: &Problem, formulation: Formulation) -> Result<(), SolveError> {
    match formulation {
        Formulation::Counts => Ok(()),
        Formulation::Paper => paper::accepts(problem),
    }
}

/// Whether [`build`] writes the problem down.
///
/// # Errors
/// As [`accepts`]; [`SolveError::Unfit`] for more than [`MAX_COLUMNS`] columns;
/// [`SolveError::Invalid`] for numbers out of [`range`].
pub fn buildable(
    problem: &Problem,
    formulation: Formulation,
    big_m: BigM,
) -> Result<(), SolveError> {
    accepts(problem, formulation)?;
    range::check(problem)?;
    let columns = columns(problem, formulation, big_m);
    if columns <= MAX_COLUMNS {
        return Ok(());
    }
    Err(SolveError::Unfit(format!(
        "the model of problem {} would have {columns} columns, more than the {MAX_COLUMNS} that \
         are written down: use the exact solver",
        problem.id
    )))
}

/// Writes `problem`, which must be sound, down as a model; under a max-min goal as that of
/// the level ([`fair::level`]).
///
/// # Errors
/// As [`buildable`].
pub fn build(
    problem: &Problem,
    formulation: Formulation,
    big_m: BigM,
) -> Result<Model, SolveError> {
    buildable(problem, formulation, big_m)?;
    match (formulation, problem.goal) {
        (Formulation::Counts, Goal::Total) => Ok(counts::build(problem, big_m)),
        (Formulation::Counts, Goal::MaxMin) => Ok(fair::level(problem, big_m)),
        (Formulation::Paper, _) => paper::build(problem, big_m),
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
