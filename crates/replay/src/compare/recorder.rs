//! Records problems of a replay.

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
    /// The recorded problems. Their ids identify the event: `event-7`, and `event-7.1` for the first
    /// completion after it.
    pub problems: Vec<Problem>,
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
