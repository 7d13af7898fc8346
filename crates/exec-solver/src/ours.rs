//! Counts the failures of the libraries that our own solvers use.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use gleaner_domain::results::programs::Identity;
use gleaner_solvers::{Allocation, Incumbent, Limits, Problem, SolveError, Solver};

use crate::judged::Judged;
use crate::tally::TallyHandle;

/// One of our own solvers, with a count of the failures of the library that it uses.
pub struct Counted {
    solver: Box<dyn Solver + Send>,
    tally: TallyHandle,
    stop: Arc<AtomicBool>,
}

impl Counted {
    /// Counts the failures of `solver`.
    pub fn new(solver: Box<dyn Solver + Send>) -> Self {
        Counted {
            solver,
            tally: TallyHandle::of_ours(),
            stop: Arc::default(),
        }
    }

    /// Replaces the solver. The counts continue, and the new solver watches the same stop flag.
    #[must_use]
    pub fn replaced_by(self, mut solver: Box<dyn Solver + Send>) -> Self {
        solver.stop_when(&self.stop);
        Counted { solver, ..self }
    }

    /// The counts. The handle stays valid after the solver is dropped.
    pub fn tally(&self) -> TallyHandle {
        self.tally.clone()
    }

    fn count(&self, problem: &Problem, answer: &Allocation) {
        let name = self.solver.name();
        self.tally.with(|tally| {
            tally.problems += 1;
            if tally.identity.name != name {
                tally.identity = Identity {
                    command: name.to_owned(),
                    name: name.to_owned(),
                    version: String::new(),
                };
            }
        });
        if let Some(failure) = &answer.failure {
            self.tally.fault(
                |tally| &mut tally.crashed,
                || format!("{}: {failure}", problem.told()),
            );
        }
    }
}

impl Solver for Counted {
    fn name(&self) -> &str {
        self.solver.name()
    }

    fn solve(&mut self, problem: &Problem, limits: &Limits) -> Result<Allocation, SolveError> {
        let answer = self.solver.solve(problem, limits)?;
        self.count(problem, &answer);
        Ok(answer)
    }

    fn solve_observed(
        &mut self,
        problem: &Problem,
        limits: &Limits,
        observer: &mut dyn FnMut(Incumbent),
    ) -> Result<Allocation, SolveError> {
        let answer = self.solver.solve_observed(problem, limits, observer)?;
        self.count(problem, &answer);
        Ok(answer)
    }

    fn stop_when(&mut self, stop: &Arc<AtomicBool>) {
        self.stop = Arc::clone(stop);
        self.solver.stop_when(stop);
    }
}

#[cfg(test)]
mod tests {
    use gleaner_solvers::{Status, synthetic};

    use super::*;

    /// A solver whose library fails on every second problem.
    struct Half(usize);

    impl Solver for Half {
        fn name(&self) -> &str {
            "half"
        }

        fn solve(&mut self, problem: &Problem, _: &Limits) -> Result<Allocation, SolveError> {
            self.0 += 1;
            let counts = vec![0; problem.tasks.len()];
            let answer = Allocation::with_plan(problem, Status::Feasible, counts, None);
            let failure = self.0.is_multiple_of(2).then(|| "it broke".to_owned());
            Ok(Allocation { failure, ..answer })
        }
    }

    // The tally is kept only if the library has failed.
    #[test]
    fn failures_are_counted_and_only_then_kept() {
        let problem = synthetic::problem(2, 4, 1);
        let mut solver = Counted::new(Box::new(Half(0)));
        let tally = solver.tally();
        for failures in [0, 1, 1, 2] {
            let answer = solver.solve_observed(&problem, &Limits::default(), &mut |_| {});
            assert!(answer.unwrap().counts.is_some());
            assert_eq!(tally.get().crashed, failures);
            assert_eq!(tally.to_keep().is_some(), failures > 0);
        }
        let told = "the solver half was asked 4 times: 2 crashed. First fault: problem synthetic-2-4-1: it broke";
        let found = tally.get().remark().unwrap();
        assert!(
            found.ends_with("it broke") && found.starts_with(&told[..45]),
            "{found}"
        );
    }
}
