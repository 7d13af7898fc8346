//! One solver's answer to one problem, timed and checked.

use std::time::{Duration, Instant};

use gleaner_solvers::range::NOTHING;
use gleaner_solvers::{Allocation, BigM, Limits, Problem, SolveError, Solver, Status, check};

use super::Contender;
use gleaner_core::error::{Error, Result};
use gleaner_core::results::compare::Row;

/// Most solves of one problem by one solver; fewer once they took [`REPEAT_TIME`].
pub const REPEATS: usize = 51;

/// A solver that has spent this long on a problem does not solve it again.
pub const REPEAT_TIME: Duration = Duration::from_millis(20);

/// Relative gap of an answer to the best one. Under a max-min goal it is the gap of the least
/// share, and 1 if fewer tasks run. Under other goals it is the gap of the objective.
fn gap_to(best: &Allocation, answer: &Allocation) -> Option<f64> {
    let (best, found, nothing) = match (best.fairness, answer.fairness) {
        (Some(best), Some(found)) if found.running < best.running => return Some(1.0),
        (Some(best), Some(found)) => (best.least_share?, found.least_share?, 1e-9),
        _ => (best.objective?, answer.objective?, NOTHING),
    };
    Some((best - found).max(0.0) / best.abs().max(nothing))
}

/// Has `solver` solve `problem`; `optimum` is the exact solver's answer, if it has one.
///
/// # Errors
/// A library that fails, or a plan that fails the check.
pub(super) fn row(
    problem: &Problem,
    optimum: Option<&Allocation>,
    contender: &mut Contender,
    limits: &Limits,
) -> Result<Row> {
    let Contender { name, solver } = contender;
    let mut row = Row {
        problem: problem.id.clone(),
        tasks: problem.tasks.len(),
        nodes: problem.nodes,
        solver: name.clone(),
        status: Ok(Status::Unknown),
        objective: None,
        proven_gap: None,
        gap_to_optimum: None,
        micros: 0.0,
    };
    match timed(problem, solver.as_mut(), limits) {
        Ok((answer, micros)) => {
            checked(problem, &answer, name)?;
            row.status = Ok(answer.status);
            row.objective = answer.objective;
            row.proven_gap = answer.gap();
            row.gap_to_optimum = optimum.and_then(|best| gap_to(best, &answer));
            row.micros = micros;
        }
        Err(failed @ SolveError::Backend { .. }) => return Err(failed.into()),
        Err(refused) => row.status = Err(refused.to_string()),
    }
    Ok(row)
}

/// Solves a problem repeatedly. Returns the last answer and the median time in microseconds.
fn timed(
    problem: &Problem,
    solver: &mut dyn Solver,
    limits: &Limits,
) -> Result<(Allocation, f64), SolveError> {
    let mut times = Vec::new();
    let begun = Instant::now();
    loop {
        let clock = Instant::now();
        let answer = solver.solve(problem, limits)?;
        times.push(clock.elapsed());
        if times.len() >= REPEATS || begun.elapsed() > REPEAT_TIME {
            times.sort_unstable();
            return Ok((answer, times[times.len() / 2].as_secs_f64() * 1e6));
        }
    }
}

fn checked(problem: &Problem, answer: &Allocation, name: &str) -> Result<()> {
    check(problem, answer, BigM::Corrected).map_err(|violations| {
        let all: Vec<String> = violations.iter().map(ToString::to_string).collect();
        let id = &problem.id;
        Error::Run(format!(
            "the answer of {name} to problem {id} fails the check: {}",
            all.join("; ")
        ))
    })
}
