//! Solvers for the forward-looking allocation of idle nodes to elastic training tasks.
//!
//! A [`Problem`] is one decision: `nodes` idle nodes, a set of tasks with their
//! current node counts, bounds, scaling curves and rescale costs, and a forward
//! window. A [`Solver`] answers with an [`Allocation`]: the next count of every
//! task. [`check`] recomputes an answer's objective and
//! feasibility from the problem alone.
//!
//! ```
//! use gleaner_solvers::{Limits, Problem, SolverKind, SolverSpec};
//!
//! let problem: Problem = serde_json::from_str(r#"{
//!     "nodes": 4, "t_fwd": 10, "tasks": [{
//!         "name": "a", "min_nodes": 1, "max_nodes": 4, "rescale_up": 1, "rescale_down": 1,
//!         "curve_nodes": [0, 4], "curve_objective": [0, 40], "current": 1
//!     }]
//! }"#)?;
//! let mut solver = SolverSpec::new(SolverKind::Exact).build()?;
//! let answer = solver.solve(&problem, &Limits::default())?;
//! // Growing from 1 node to 4 costs a second at the present rate of 10.
//! assert_eq!((answer.counts, answer.objective), (Some(vec![4]), Some(390.0)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This is the problem that Liu et al. state in "BFTrainer: Low-Cost Training of Neural Networks on Unfillable
//! Supercomputer Nodes" (arXiv:2106.12091), but with node counts instead of individual nodes. Nodes are
//! interchangeable, so both problems have the same optimum.

pub mod allocation;
pub mod backends;
pub mod checker;
pub mod formulations;
pub mod goal;
pub mod model;
mod nest;
pub mod problem;
pub mod range;
pub mod rates;
pub mod recursion;
pub mod solver;
pub mod synthetic;

pub use allocation::{Allocation, Status};
pub use checker::check;
pub use goal::{Fairness, Goal, Merit};
pub use problem::{GroupLimit, Problem, Task};
pub use rates::Rates;
pub use solver::{
    BigM, Formulation, Incumbent, Limits, SolveError, Solver, SolverKind, SolverSpec,
};
