//! Writes the answers of solvers as JSON lines.

use gleaner_classes::{Class, Held};
use gleaner_solvers::{Allocation, Fairness, Status};
use serde::{Serialize, Serializer};

use gleaner_domain::error::{Error, Result};

/// A solver's answer to a problem.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Id of the problem.
    pub id: String,
    /// Name of the solver.
    pub solver: String,
    /// The plan of the solver.
    pub solution: Solution,
    /// Wall time of the solver.
    pub microseconds: u64,
}

/// A plan, and the solver's claims about it.
#[derive(Debug, Clone)]
pub enum Solution {
    /// For a problem with nodes of one class.
    OneClass(Allocation),
    /// For a problem with node classes.
    Classes {
        /// The plan, in which classes are indices.
        answer: gleaner_classes::Answer,
        /// Names of the classes.
        classes: Vec<String>,
    },
}

impl Solution {
    /// A solution of a problem with these classes.
    pub fn of_classes(answer: gleaner_classes::Answer, classes: &[Class]) -> Self {
        let classes = classes.iter().map(|class| class.name.clone()).collect();
        Solution::Classes { answer, classes }
    }

    /// The outcome of the solve.
    pub fn status(&self) -> Status {
        match self {
            Solution::OneClass(allocation) => allocation.status,
            Solution::Classes { answer, .. } => answer.status,
        }
    }

    /// Objective of the plan; `None` without a plan.
    pub fn objective(&self) -> Option<f64> {
        let objective = match self {
            Solution::OneClass(allocation) => allocation.objective,
            Solution::Classes { answer, .. } => answer.objective,
        };
        // An empty sum is -0, which this addition turns into 0.
        objective.map(|objective| objective + 0.0)
    }

    /// Upper bound on the objective of any plan; `None` if the solver gives none.
    pub fn bound(&self) -> Option<f64> {
        match self {
            Solution::OneClass(allocation) => allocation.bound,
            // The bound of a plan worth nothing can be -0.
            Solution::Classes { answer, .. } => answer.bound.map(|bound| bound + 0.0),
        }
    }

    /// Relative gap between the objective and the bound.
    pub fn gap(&self) -> Option<f64> {
        match self {
            Solution::OneClass(allocation) => allocation.gap(),
            Solution::Classes { answer, .. } => answer.gap(),
        }
    }

    /// The nodes that each task holds in the plan, in task order; `None` without a plan.
    pub fn counts(&self) -> Option<Counts<'_>> {
        match self {
            Solution::OneClass(allocation) => allocation.counts.as_deref().map(Counts::OneClass),
            Solution::Classes { answer, classes } => {
                let held = |held: &Option<Held>| {
                    held.map(|Held { class, count }| NodesOfClass {
                        class: &classes[class],
                        nodes: count,
                    })
                };
                let plan = answer.plan.as_ref()?;
                Some(Counts::Classes(plan.iter().map(held).collect()))
            }
        }
    }

    /// Price of a node in each class, by the name of the class; `None` if the problem has no classes, or the solver
    /// computes no prices.
    pub fn prices(&self) -> Option<Prices<'_>> {
        match self {
            Solution::Classes { answer, classes } if !answer.prices.is_empty() => {
                let names = classes.iter().map(String::as_str);
                Some(Prices(names.zip(answer.prices.iter().copied()).collect()))
            }
            _ => None,
        }
    }
}

/// The nodes that each task holds in a plan, in task order.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Counts<'a> {
    /// Numbers of nodes.
    OneClass(&'a [u32]),
    /// Nodes of a class; `None` for a task that holds nothing.
    Classes(Vec<Option<NodesOfClass<'a>>>),
}

/// Nodes of a class that a task holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct NodesOfClass<'a> {
    /// Name of the class.
    pub class: &'a str,
    /// Number of nodes.
    pub nodes: u32,
}

/// Names of classes and prices, written as a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Prices<'a>(pub Vec<(&'a str, f64)>);

impl Serialize for Prices<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

/// A line of the output of `gleaner solve`.
#[derive(Debug, Serialize)]
struct Line<'a> {
    id: &'a str,
    solver: &'a str,
    status: Status,
    objective: Option<f64>,
    bound: Option<f64>,
    gap: Option<f64>,
    counts: Option<Counts<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prices: Option<Prices<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fairness: Option<Fairness>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a str>,
    microseconds: u64,
}

/// An answer as one JSON line.
///
/// # Errors
/// The serialiser fails, which does not happen in practice.
pub fn line(answer: &Answer) -> Result<String> {
    let solution = &answer.solution;
    let (fairness, failure) = match solution {
        Solution::OneClass(allocation) => (allocation.fairness, allocation.failure.as_deref()),
        Solution::Classes { .. } => (None, None),
    };
    let line = Line {
        id: &answer.id,
        solver: &answer.solver,
        status: solution.status(),
        objective: solution.objective(),
        bound: solution.bound(),
        gap: solution.gap(),
        counts: solution.counts(),
        prices: solution.prices(),
        fairness,
        failure,
        microseconds: answer.microseconds,
    };
    serde_json::to_string(&line)
        .map(|text| text + "\n")
        .map_err(|e| Error::Run(e.to_string()))
}
