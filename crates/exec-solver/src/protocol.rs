//! The messages, version 1. Fields that are not known are ignored.

use gleaner_solvers::Problem;
use serde::{Deserialize, Serialize};

/// The version of the protocol.
pub const VERSION: u32 = 1;

/// What we write, one a line.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Request<'a> {
    /// The first line.
    Hello {
        /// Versions of the protocol that we know.
        protocols: &'a [u32],
        /// `gleaner`.
        program: &'a str,
        /// Our version.
        version: &'a str,
    },
    /// A problem to solve.
    Solve {
        /// Names the request; answers repeat it.
        id: &'a str,
        /// Seconds until the answer must be there.
        time_limit: f64,
        /// Relative gap at which a plan counts as optimal.
        gap: f64,
        /// Seed of what the solver draws at random.
        seed: u64,
        /// Threads that it may use.
        threads: usize,
        /// The problem, as `gleaner solve` takes it.
        problem: &'a Problem,
    },
    /// The time is over: answer now.
    Cancel {
        /// The request.
        id: &'a str,
    },
    /// End the program. A closed input says the same.
    Quit {},
}

/// What the program writes, one a line.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The first line.
    Hello(Hello),
    /// A plan that it has found; there may be more.
    Incumbent(Incumbent),
    /// The answer.
    Done(Done),
}

/// Who the program is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The version of the protocol that it speaks.
    pub protocol: u32,
    /// Its name, for tables and messages.
    pub name: String,
    /// Its version.
    #[serde(default)]
    pub version: String,
    /// What it can do, of `groups`, `max-min` and `incumbents`.
    #[serde(default)]
    pub capabilities: Vec<String>,
}

impl Hello {
    /// Whether the program says that it can do this.
    pub fn can(&self, what: &str) -> bool {
        self.capabilities.iter().any(|can| can == what)
    }
}

/// A plan found on the way.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Incumbent {
    /// The request.
    pub id: String,
    /// Next number of nodes of each task.
    pub counts: Vec<u32>,
    /// Upper bound of the objective, if it has one.
    pub bound: Option<f64>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Done {
    /// The request.
    pub id: String,
    /// How far the solver got.
    pub status: DoneStatus,
    /// Next number of nodes of each task, if it has a plan.
    pub counts: Option<Vec<u32>>,
    /// Upper bound of the objective, if it has one.
    pub bound: Option<f64>,
    /// Anything for the user.
    pub message: Option<String>,
}

/// How far a solver says it got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DoneStatus {
    /// The plan is the best there is.
    Optimal,
    /// There is a plan.
    Feasible,
    /// No plan meets the constraints.
    Infeasible,
    /// No plan was found.
    Unknown,
    /// The solver does not take such problems.
    Refused,
}
