//! The solver backends, one file each.

#[cfg(feature = "cbc")]
mod apart;
mod auto;
#[cfg(feature = "cbc")]
mod cbc;
mod equal_share;
mod exact;
#[cfg(feature = "highs")]
mod highs;
#[cfg(any(feature = "highs", feature = "cbc"))]
mod milp;
mod precision;

use std::sync::atomic::AtomicBool;

use crate::Limits;
use crate::model::Model;
use crate::solver::{SolveError, Solver, SolverKind, SolverSpec};

pub use auto::Auto;
#[cfg(feature = "cbc")]
pub use cbc::Cbc;
pub use equal_share::EqualShare;
pub use exact::Exact;
pub(crate) use exact::accepts as exact_accepts;
#[cfg(feature = "highs")]
pub use highs::Highs;

/// Builds the backend that `spec` describes.
///
/// # Errors
/// [`SolveError::NotBuilt`] if the backend's library was left out of this build.
pub fn build(spec: SolverSpec) -> Result<Box<dyn Solver + Send>, SolveError> {
    Ok(match spec.kind {
        SolverKind::Auto => Box::new(Auto::new(spec)),
        SolverKind::Exact => Box::new(Exact::new(spec.big_m)),
        SolverKind::EqualShare => Box::new(EqualShare),
        #[cfg(feature = "highs")]
        SolverKind::Highs => Box::new(Highs::new(spec)),
        #[cfg(feature = "cbc")]
        SolverKind::Cbc => Box::new(Cbc::new(spec)),
        #[cfg(not(feature = "highs"))]
        SolverKind::Highs => return Err(SolveError::NotBuilt("highs")),
        #[cfg(not(feature = "cbc"))]
        SolverKind::Cbc => return Err(SolveError::NotBuilt("cbc")),
    })
}

/// The answer of a MILP solver to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelAnswer {
    /// Whether the solver claims that the values are optimal.
    pub is_optimal: bool,
    /// Whether the solver claims that the model has no solution.
    pub is_infeasible: bool,
    /// The value of each column, if the solver found any. They are not checked.
    pub values: Option<Vec<f64>>,
    /// Upper bound on the objective, if the solver states one.
    pub bound: Option<f64>,
}

/// Solves a model, on one thread, with a MILP solver. The search ends soon after `stop` is set. If the model is too
/// large to load within the time limit, the answer has no values.
///
/// # Errors
/// [`SolveError::NotBuilt`] if the solver's library was left out of this build, [`SolveError::Unfit`] if the solver is
/// not a MILP solver, and [`SolveError::Backend`] if the library fails.
#[cfg_attr(
    not(any(feature = "highs", feature = "cbc")),
    expect(unused_variables, reason = "only libraries use the arguments")
)]
pub fn solve_model(
    kind: SolverKind,
    model: Model,
    limits: &Limits,
    stop: &AtomicBool,
) -> Result<ModelAnswer, SolveError> {
    match kind {
        #[cfg(feature = "highs")]
        SolverKind::Highs => milp::solve_model("highs", model, limits, stop, highs::run),
        #[cfg(feature = "cbc")]
        SolverKind::Cbc => milp::solve_model("cbc", model, limits, stop, cbc::run),
        #[cfg(not(feature = "highs"))]
        SolverKind::Highs => Err(SolveError::NotBuilt("highs")),
        #[cfg(not(feature = "cbc"))]
        SolverKind::Cbc => Err(SolveError::NotBuilt("cbc")),
        SolverKind::Auto | SolverKind::Exact | SolverKind::EqualShare => Err(SolveError::Unfit(
            "only highs and cbc solve models".to_owned(),
        )),
    }
}
