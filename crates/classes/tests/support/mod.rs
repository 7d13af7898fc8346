//! Helpers that the integration tests share.

use gleaner_classes::{Answer, Exact, Milp, Problem};
use gleaner_solvers::{Limits, SolveError, SolverKind};

/// Solves a problem with the exact solver.
pub fn solve(problem: &Problem) -> Answer {
    Exact::default()
        .solve(problem, &Limits::default())
        .unwrap_or_else(|error| panic!("{}: {error}", problem.id))
}

/// Solves a problem with HiGHS and CBC, if this build includes them.
pub fn solve_by_milp(problem: &Problem) -> Vec<Answer> {
    let solvers = [SolverKind::Highs, SolverKind::Cbc].map(Milp::new);
    let answers = solvers
        .iter()
        .map(|solver| solver.solve(problem, &Limits::default()));
    answers
        .filter_map(|answer| match answer {
            Err(SolveError::NotBuilt(solver)) => {
                println!("skipped: this build has no {solver}");
                None
            }
            other => Some(other.unwrap_or_else(|error| panic!("{}: {error}", problem.id))),
        })
        .collect()
}
