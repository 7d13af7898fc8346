//! Writes the answers of solvers as JSON lines.

use gleaner_classes::{AnyAnswer, Held};
use gleaner_solvers::{Fairness, Status};
use serde::{Serialize, Serializer};

use gleaner_domain::error::{Error, Result};

/// A solver's answer to a problem.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Id of the problem.
    pub id: String,
    /// Name of the solver.
    pub solver: String,
    /// The plan, and the solver's claims about it.
    pub solution: AnyAnswer,
    /// Names of the node classes; empty if all nodes are interchangeable.
    pub classes: Vec<String>,
    /// Wall time of the solver.
    pub microseconds: u64,
}

impl Answer {
    /// The nodes that each task holds in the plan, in task order; `None` if there is no plan.
    pub fn counts(&self) -> Option<Counts<'_>> {
        match &self.solution {
            AnyAnswer::OneClass(allocation) => allocation.counts.as_deref().map(Counts::OneClass),
            AnyAnswer::Classes(answer) => {
                let held = |held: &Option<Held>| {
                    held.map(|Held { class, count }| NodesOfClass {
                        class: &self.classes[class],
                        nodes: count,
                    })
                };
                let plan = answer.plan.as_ref()?;
                Some(Counts::Classes(plan.iter().map(held).collect()))
            }
        }
    }

    /// The price of a node in each class. `None` if the problem has no classes, or if the solver computes no prices.
    pub fn prices(&self) -> Option<Prices<'_>> {
        match &self.solution {
            AnyAnswer::Classes(answer) if !answer.prices.is_empty() => {
                let names = self.classes.iter().map(String::as_str);
                Some(Prices(names.zip(answer.prices.iter().copied()).collect()))
            }
            _ => None,
        }
    }
}

/// The nodes of each task in a plan, in one of two forms. Tasks are in the order of the problem.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Counts<'a> {
    /// For each task, the number of its nodes.
    OneClass(&'a [u32]),
    /// For each task, the class and the number of its nodes; `None` for a task that holds no nodes.
    Classes(Vec<Option<NodesOfClass<'a>>>),
}

/// The class and the number of the nodes that a task holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct NodesOfClass<'a> {
    /// Name of the class.
    pub class: &'a str,
    /// Number of nodes.
    pub nodes: u32,
}

/// The name and the price of each class, serialised as a map from names to prices.
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
    let failure = match &answer.solution {
        AnyAnswer::OneClass(allocation) => allocation.failure.as_deref(),
        AnyAnswer::Classes(_) => None,
    };
    let line = Line {
        id: &answer.id,
        solver: &answer.solver,
        status: answer.solution.status(),
        objective: answer.solution.objective(),
        bound: answer.solution.bound(),
        gap: answer.solution.gap(),
        counts: answer.counts(),
        prices: answer.prices(),
        fairness: answer.solution.fairness(),
        failure,
        microseconds: answer.microseconds,
    };
    serde_json::to_string(&line)
        .map(|text| text + "\n")
        .map_err(|e| Error::Run(e.to_string()))
}
