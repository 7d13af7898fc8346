//! Records problems of a replay.

use gleaner_solvers::Problem;

use crate::{Decider, Decision, SolverDecider};
use gleaner_core::error::Result;

/// Decides by a solver and keeps the problem of every k-th decision.
pub struct Recorder {
    decider: SolverDecider,
    every: usize,
    seen: usize,
    /// The problems kept; their ids name the event.
    pub problems: Vec<Problem>,
}

impl Recorder {
    /// Keeps the first and then every `every`-th problem (at least 1) that `decider` decides on.
    pub fn new(decider: SolverDecider, every: usize) -> Self {
        Recorder {
            decider,
            every: every.max(1),
            seen: 0,
            problems: Vec::new(),
        }
    }
}

impl Decider for Recorder {
    fn name(&self) -> &str {
        self.decider.name()
    }

    fn decide(&mut self, event: usize, problem: &Problem) -> Result<Decision> {
        if self.seen.is_multiple_of(self.every) {
            self.problems.push(Problem {
                id: format!("event-{event}"),
                ..problem.clone()
            });
        }
        self.seen += 1;
        self.decider.decide(event, problem)
    }
}
