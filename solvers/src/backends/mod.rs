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

pub use auto::Auto;
#[cfg(feature = "cbc")]
pub use cbc::Cbc;
pub use equal_share::EqualShare;
pub use exact::Exact;
pub(crate) use exact::accepts as exact_accepts;
#[cfg(feature = "highs")]
pub use highs::Highs;

use crate::solver::{SolveError, Solver, SolverKind, SolverSpec};

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
