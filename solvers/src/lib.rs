//! Solvers for the forward-looking allocation of idle nodes to elastic training tasks.
//!
//! A [`Problem`] is one decision: `nodes` idle nodes, a set of tasks with their
//! current node counts, bounds, scaling curves and rescale costs, and a forward
//! window. A [`Solver`] answers with an [`Allocation`]: the next count of every
//! task. [`check`] recomputes an answer's objective and
//! feasibility from the problem alone.
//!
//! The problem is that of Liu, Kettimuthu, Papka, Foster, "BFTrainer: Low-Cost
//! Training of Neural Networks on Unfillable Supercomputer Nodes"
//! (arXiv:2106.12091), over counts instead of node identities: nodes are
//! interchangeable, so both have the same optimum.

pub mod allocation;
pub mod backends;
pub mod checker;
pub mod formulations;
pub mod model;
pub mod problem;
pub mod recursion;
pub mod solver;
pub mod synthetic;

pub use allocation::{Allocation, Status};
pub use checker::check;
pub use problem::{GroupLimit, Problem, Task};
pub use solver::{BigM, Formulation, Limits, SolveError, Solver, SolverKind, SolverSpec};
