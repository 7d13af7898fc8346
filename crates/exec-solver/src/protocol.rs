//! The messages of the protocol, version 1. Unknown fields are ignored.

use gleaner_solvers::Problem;
use serde::{Deserialize, Serialize};

/// The version of the protocol.
pub const VERSION: u32 = 1;

/// The messages that we write, one on each line.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Request<'a> {
    /// The first message, which identifies Gleaner.
    Hello {
        /// The versions of the protocol that we support.
        protocols: &'a [u32],
        /// `gleaner`.
        program: &'a str,
        /// The version of Gleaner.
        version: &'a str,
    },
    /// A problem to solve.
    Solve {
        /// Id of the request. Every reply to the request contains this id.
        id: &'a str,
        /// Number of seconds within which the answer must arrive.
        time_limit: f64,
        /// Largest relative gap to the optimum at which a plan counts as optimal.
        gap: f64,
        /// Seed of the solver's random numbers.
        seed: u64,
        /// Number of threads that the solver may use.
        threads: usize,
        /// The problem, in the format of `gleaner solve`.
        problem: RequestedProblem<'a>,
    },
    /// A request to end the search and answer now.
    Cancel {
        /// Id of the request to be answered.
        id: &'a str,
    },
    /// A request to exit. Closing the program's input has the same meaning.
    Quit {},
}

/// A problem in a request. A problem with node classes is written with a list of options for each task.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(untagged)]
pub enum RequestedProblem<'a> {
    /// All nodes are interchangeable.
    OneClass(&'a Problem),
    /// The nodes are of several classes.
    Classes(&'a gleaner_classes::Problem),
}

/// The messages that the program writes, one on each line.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The first message, which identifies the program.
    Hello(Hello),
    /// A plan that the program has found. Better plans may follow.
    Incumbent(Incumbent),
    /// The answer to a request.
    Done(Done),
}

/// The identity and capabilities of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The version of the protocol that the program uses.
    pub protocol: u32,
    /// Name of the program, for tables and messages.
    pub name: String,
    /// Version of the program.
    #[serde(default)]
    pub version: String,
    /// Capabilities of the program: any of `groups`, `max-min`, `incumbents` and `classes`.
    #[serde(default)]
    pub capabilities: Vec<String>,
}

impl Hello {
    /// Whether the program declares this capability.
    pub fn can(&self, what: &str) -> bool {
        self.capabilities.iter().any(|can| can == what)
    }
}

/// A plan that the program has found during the search.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Incumbent {
    /// Id of the request.
    pub id: String,
    /// The plan.
    #[serde(flatten)]
    pub plan: Plan,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Done {
    /// Id of the request.
    pub id: String,
    /// The status of the answer.
    pub status: DoneStatus,
    /// The plan, if the answer contains one.
    #[serde(flatten)]
    pub plan: Plan,
    /// A message for the user.
    pub message: Option<String>,
}

/// The plan of a reply.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Plan {
    /// The number of nodes that each task gets, for a problem without node classes.
    pub counts: Option<Vec<u32>>,
    /// `[class, count]` or `null` for each task, for a problem with node classes. The field is parsed only for such
    /// problems, so a program that solves other problems may use a field of this name for any purpose.
    pub plan: Option<serde_json::Value>,
}

/// The status that a program claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DoneStatus {
    /// The plan is optimal.
    Optimal,
    /// The plan is feasible.
    Feasible,
    /// No plan meets the constraints.
    Infeasible,
    /// No plan was found.
    Unknown,
    /// The program does not support the problem.
    Refused,
}
