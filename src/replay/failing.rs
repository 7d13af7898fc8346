//! Records the problems of a replay to which a solver gave faulty answers.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::run::Seconds;
use gleaner_domain::words::counted;
use gleaner_exec_solver::TallyHandle;
use gleaner_replay::{Decider, Decision, SolverDecider};
use gleaner_runs::run::{End, RunDir};
use gleaner_solvers::Problem;

/// Name of the file in the run directory that contains the problems, in the format that `gleaner solve` reads.
const FILE: &str = "failing-problems.jsonl";

/// Maximum number of problems that are kept.
const MOST: usize = 100;

/// The first problems to which a solver gave faulty answers. Clones share the list.
#[derive(Debug, Clone, Default)]
pub struct FailingProblems(Arc<Mutex<Vec<Problem>>>);

impl FailingProblems {
    fn with<T>(&self, of: impl FnOnce(&mut Vec<Problem>) -> T) -> T {
        of(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, problem: &Problem) {
        self.with(|problems| {
            if problems.len() < MOST {
                problems.push(problem.clone());
            }
        });
    }

    /// Writes the problems, one per line, if there are any.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, directory: &RunDir) -> Result<()> {
        self.with(|problems| {
            if problems.is_empty() {
                return Ok(());
            }
            directory.write(FILE, |out| {
                problems.iter().try_for_each(|problem| {
                    serde_json::to_writer(&mut *out, problem)?;
                    out.write_all(b"\n")
                })
            })
        })
    }

    /// Returns the error of a failed run. If a solver's answer caused the error, writes the problem to the run
    /// directory and marks the directory incomplete. The error then names the file.
    pub fn keep(&self, error: Error, directory: Option<RunDir>) -> Error {
        let Some(first) = self.first() else {
            return error;
        };
        let why = match error {
            Error::Run(why) => why,
            other => return other,
        };
        let Some(directory) = directory else {
            return Error::Run(format!("{why}. {}", Self::advice(&first)));
        };
        let file = directory.path().join(FILE);
        let end = End {
            sources: &[],
            complete: false,
            seconds: Seconds::default(),
        };
        let written = self.write(&directory).and_then(|()| directory.finish(&end));
        match written {
            Ok(_) => Error::Run(format!("{why}. The problem is in {}", file.display())),
            Err(error) => error,
        }
    }

    /// Returns a remark that names the file with the problems, or nothing if there are no problems.
    pub fn remark(&self, out: Option<&Path>) -> Vec<String> {
        let Some(first) = self.first() else {
            return Vec::new();
        };
        let count = self.with(|problems| problems.len());
        let kept = match count {
            MOST => format!("the first {MOST} problems"),
            count => counted(count, "problem"),
        };
        let remark = match out {
            Some(out) => format!(
                "{kept} with faulty answers from the solver, saved in {}",
                out.join(FILE).display()
            ),
            None => Self::advice(&first),
        };
        vec![remark]
    }

    fn advice(first: &str) -> String {
        format!("Use --out DIR to write the problem of {first} to DIR/{FILE}")
    }

    /// The event and time of the first problem.
    fn first(&self) -> Option<String> {
        self.with(|problems| problems.first().map(|problem| problem.id.clone()))
    }
}

/// Decides with a solver, and keeps the problems without node classes to which the solver gives faulty answers.
pub struct Witness {
    /// The decider, which solves the problems.
    pub decider: SolverDecider,
    /// Counts of the solver's answers, including the faulty answers.
    pub tally: TallyHandle,
    /// The list in which these problems are kept.
    pub failing: FailingProblems,
}

impl Witness {
    fn faults(&self) -> usize {
        self.tally.get().faults()
    }
}

impl Decider for Witness {
    fn name(&self) -> &str {
        self.decider.name()
    }

    fn formulation(&self) -> Option<&str> {
        self.decider.formulation()
    }

    fn decide(&mut self, event: usize, problem: &Problem) -> Result<Decision> {
        let before = self.faults();
        let decision = self.decider.decide(event, problem);
        if decision.is_err() || self.faults() > before {
            self.failing.add(problem);
        }
        decision
    }

    fn decide_in_classes(
        &mut self,
        event: usize,
        problem: &gleaner_classes::Problem,
    ) -> Result<Decision> {
        self.decider.decide_in_classes(event, problem)
    }
}
