//! Records problems of a replay.

use std::sync::Arc;

use gleaner_classes::AnyProblem;
use gleaner_solvers::Problem;

use crate::{Decider, Decision, SolverDecider};
use gleaner_domain::error::Result;

/// A decider that uses a solver and records the problem of every k-th decision.
pub struct Recorder {
    decider: SolverDecider,
    every: usize,
    seen: usize,
    /// The last event, and the number of decisions at this event. A completion has the event number of
    /// the log row before it.
    last: (usize, usize),
    /// The recorded problems. Their ids identify the events: `event-7`, and `event-7.1` for the first
    /// completion after it.
    pub problems: Vec<AnyProblem>,
}

impl Recorder {
    /// Records the first and then every `every`-th problem that `decider` decides on. `every` must be
    /// at least 1.
    pub fn new(decider: SolverDecider, every: usize) -> Self {
        Recorder {
            decider,
            every: every.max(1),
            seen: 0,
            last: (0, 0),
            problems: Vec::new(),
        }
    }

    /// Counts a decision. If the problem of the decision is to be recorded, returns the problem's id.
    fn next(&mut self, event: usize) -> Option<String> {
        let before = if self.last.0 == event { self.last.1 } else { 0 };
        self.last = (event, before + 1);
        self.seen += 1;
        let is_recorded = (self.seen - 1).is_multiple_of(self.every);
        is_recorded.then(|| match before {
            0 => format!("event-{event}"),
            completion => format!("event-{event}.{completion}"),
        })
    }
}

impl Decider for Recorder {
    fn name(&self) -> &str {
        self.decider.name()
    }

    fn decide(&mut self, event: usize, problem: &Problem) -> Result<Decision> {
        if let Some(id) = self.next(event) {
            let problem = Problem {
                id,
                ..problem.clone()
            };
            self.problems.push(AnyProblem::OneClass(Arc::new(problem)));
        }
        self.decider.decide(event, problem)
    }

    fn decide_in_classes(
        &mut self,
        event: usize,
        problem: &gleaner_classes::Problem,
    ) -> Result<Decision> {
        if let Some(id) = self.next(event) {
            let problem = gleaner_classes::Problem {
                id,
                ..problem.clone()
            };
            self.problems.push(AnyProblem::Classes(Arc::new(problem)));
        }
        self.decider.decide_in_classes(event, problem)
    }
}
