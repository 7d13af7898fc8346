//! Records problems of a replay.

use gleaner_solvers::Problem;

use crate::{Decider, Decision, SolverDecider};
use gleaner_domain::error::Result;

/// Decides by a solver and keeps the problem of every k-th decision.
pub struct Recorder {
    decider: SolverDecider,
    every: usize,
    seen: usize,
    /// The last event, and the number of decisions made at it. Completions after a row of the log share
    /// the event number of that row.
    last: (usize, usize),
    /// The recorded problems. Their ids identify the event: `event-7`, and `event-7.1` for the first
    /// completion after it.
    pub problems: Vec<Problem>,
}

impl Recorder {
    /// Keeps the first and then every `every`-th problem (at least 1) that `decider` decides on.
    pub fn new(decider: SolverDecider, every: usize) -> Self {
        Recorder {
            decider,
            every: every.max(1),
            seen: 0,
            last: (0, 0),
            problems: Vec::new(),
        }
    }
}

impl Decider for Recorder {
    fn name(&self) -> &str {
        self.decider.name()
    }

    fn decide(&mut self, event: usize, problem: &Problem) -> Result<Decision> {
        let before = if self.last.0 == event { self.last.1 } else { 0 };
        self.last = (event, before + 1);
        if self.seen.is_multiple_of(self.every) {
            let id = match before {
                0 => format!("event-{event}"),
                completion => format!("event-{event}.{completion}"),
            };
            self.problems.push(Problem {
                id,
                ..problem.clone()
            });
        }
        self.seen += 1;
        self.decider.decide(event, problem)
    }
}
