//! The ways to state a [`Problem`] as a mixed-integer linear program.
//!
//! Each formulation builds a [`Model`], turns counts into column values (for an initial solution),
//! and turns column values back into counts. Objective coefficients are in the problem's own units;
//! the backends scale them for their libraries.

pub mod counts;
pub mod export;
pub mod fair;
pub mod paper;

use crate::model::Model;
use crate::{BigM, Formulation, Goal, Problem, SolveError, range};

/// Maximum number of columns of a model that [`build`] makes. Larger models would take gigabytes.
pub const MAX_COLUMNS: u64 = 10_000_000;

/// Number of columns of the model that [`build`] would return.
pub fn columns(problem: &Problem, formulation: Formulation, big_m: BigM) -> u64 {
    match formulation {
        Formulation::Counts => counts::columns(problem, big_m),
        Formulation::Paper => paper::columns(problem),
    }
}

/// Checks that the formulation can express the problem.
///
/// # Errors
/// Only in the paper formulation: [`SolveError::SideConstraint`] if the problem has groups,
/// [`SolveError::Goal`] if its goal is max-min, and [`SolveError::Unfit`] if its tasks hold more
/// nodes than are idle.
pub fn accepts(problem: &Problem, formulation: Formulation) -> Result<(), SolveError> {
    match formulation {
        Formulation::Counts => Ok(()),
        Formulation::Paper => paper::accepts(problem),
    }
}

/// Checks that [`build`] can make a model of the problem.
///
/// # Errors
/// Same as [`accepts`]. Also [`SolveError::Unfit`] if the model would have more than [`MAX_COLUMNS`] columns, and
/// [`SolveError::Invalid`] if numbers are out of [`range`].
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
        "the model of problem {} would have {columns} columns, more than the limit of \
         {MAX_COLUMNS}: use the exact solver",
        problem.id
    )))
}

/// Builds the model of `problem`, which must be valid. With a max-min goal this is the model of
/// [`fair::level`].
///
/// # Errors
/// Same as [`buildable`].
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

/// Column values that represent `plan` in the model that [`build`] returns.
pub fn encode(problem: &Problem, formulation: Formulation, big_m: BigM, plan: &[u32]) -> Vec<f64> {
    match formulation {
        Formulation::Counts => counts::encode(problem, big_m, plan),
        Formulation::Paper => paper::encode(problem, plan),
    }
}

/// The plan that column values represent in the model that [`build`] returns.
///
/// Values that are not whole numbers are rounded, so the plan may violate a constraint: check it
/// before use.
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
