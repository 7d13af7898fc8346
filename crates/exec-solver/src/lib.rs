//! External solvers: programs in any language, and functions.
//!
//! ```
//! use gleaner_exec_solver::{FunctionPlan, FunctionSolver};
//! use gleaner_solvers::{BigM, Limits, Problem, Solver, synthetic};
//!
//! // A solver that gives no task a node.
//! let nothing = |problem: &Problem, _: &Limits| {
//!     let counts = vec![0; problem.tasks.len()];
//!     Some(FunctionPlan { counts, is_called_optimal: false })
//! };
//! let mut solver = FunctionSolver::new("nothing".into(), "1".into(), BigM::Corrected, nothing);
//! let problem = synthetic::problem(3, 8, 1);
//! let answer = solver.solve(&problem, &Limits::default())?;
//! assert_eq!(answer.counts, Some(vec![0; 3]));
//! assert!(!solver.tally().get().has_faults());
//! # Ok::<(), gleaner_solvers::SolveError>(())
//! ```
//!
//! A program ([`External`]) is started once, not for every problem. It reads JSON documents from its standard input and
//! writes JSON documents to its standard output, one on each line: see [`protocol`] and docs/SOLVERS.md. The program's
//! answers are never trusted: every plan is checked, and its objective is computed here. A plan that the program
//! reports as optimal is compared with the exact solver's optimum if that solver accepts the problem.
//!
//! A program that is late, dies or writes invalid messages does not end a run. In that case, the
//! answer to the problem is the program's last valid plan, if there is one. The fault is counted in
//! a [`Tally`]. A program that has ended is restarted for the next problem, unless it has died too
//! often without an answer.
//!
//! Our own solvers are never judged, but the libraries that they use may fail. [`Counted`] counts these failures.
//!
//! A program may also support problems with node classes, so [`External`] also implements
//! [`gleaner_classes::ClassSolver`].
//!
//! A [`FunctionSolver`] calls a function instead of a program, and its plans are checked in the same way.

mod child;
mod command;
pub mod conformance;
mod external;
mod function;
mod judge;
mod judged;
mod ours;
pub mod protocol;
mod tally;

pub use command::{PREFIX, SolverCommand};
pub use external::External;
pub use function::{FunctionPlan, FunctionSolver};
pub use gleaner_domain::results::programs::{Identity, Tally};
pub use ours::Counted;
pub use tally::TallyHandle;
