//! Exact allocation of nodes of several classes to elastic tasks.
//!
//! A machine has nodes of several kinds, and a task runs at a different speed on each kind. A [`Problem`] has
//! **classes** and tasks. Each class has a number of idle nodes. Each task has **options**. An option is a number of
//! nodes of one class, with the value that they add to the objective. Each task takes at most one of its options.
//! [`Exact`] finds the plan with the greatest objective and proves that no plan is better.
//!
//! ```
//! use gleaner_classes::{Exact, Problem};
//! use gleaner_solvers::{Limits, Status};
//!
//! let problem: Problem = serde_json::from_str(r#"{
//!     "classes": [{"name": "v100", "capacity": 4}, {"name": "a100", "capacity": 2}],
//!     "tasks": [
//!         {"name": "a", "options": [[0, 2, 10], [0, 4, 16], [1, 1, 12], [1, 2, 20]]},
//!         {"name": "b", "options": [[0, 2, 10], [0, 4, 18], [1, 2, 21]]}
//!     ]
//! }"#)?;
//! let answer = Exact::default().solve(&problem, &Limits::default())?;
//! // Task a takes both nodes of the class a100, and b all of v100.
//! assert_eq!((answer.status, answer.objective), (Status::Optimal, Some(38.0)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The problem is a multiple-choice knapsack with a capacity for each class, in which each choice uses only one of the
//! capacities (Kellerer, Pferschy and Pisinger 2004, chapter 11). Sia (Jayaram Subramanya et al., SOSP 2023) solves
//! such a problem every minute as a mixed-integer linear program.

mod answer;
pub mod any;
mod check;
mod curves;
mod equal_share;
mod exact;
pub mod milp;
mod offer;
mod prices;
mod problem;
mod reduced;
mod round;
mod search;
pub mod solver;
pub mod synthetic;

pub use answer::{Answer, Work};
pub use any::{AnyAnswer, AnyProblem, AnySolver};
pub use check::{Violation, check};
pub use curves::{CurrentNodes, Curve, CurveProblem, CurveTask};
pub use equal_share::EqualShare;
pub use exact::Exact;
pub use milp::Milp;
pub use offer::{Counts, Offer, Rescaling};
pub use problem::{Choice, Class, Group, GroupLimit, Held, LARGEST_VALUE, PerClass, Problem, Task};
pub use solver::ClassSolver;
