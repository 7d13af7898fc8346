//! One solver's answer to one problem, timed and checked.

use std::time::{Duration, Instant};

use gleaner_classes::any::PlanObserver;
use gleaner_classes::{AnyAnswer, AnyProblem, AnySolver};
use gleaner_solvers::{BigM, Limits, SolveError, Status};

use super::Contender;
use super::incumbents::{Found, Watch, gap_to};
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::compare::{AnswerRow, AnswerStatus};

/// Maximum number of times that a solver solves the same problem. Repetition ends earlier if the solves have taken
/// [`REPEAT_TIME`].
pub const REPEATS: usize = 51;

/// A solver that has spent this much time on a problem does not solve it again.
pub const REPEAT_TIME: Duration = Duration::from_millis(20);

/// One solver's answer to one problem, and the plans that it found during the solve.
#[derive(Debug, Clone)]
pub(super) struct Answered {
    pub row: AnswerRow,
    pub found: Vec<Found>,
}

/// Makes `solver` solve `problem`. `optimum` is the exact solver's answer; `None` if that solver found no optimum.
///
/// # Errors
/// A solver library fails, or a plan fails the check.
pub(super) fn row(
    problem: &AnyProblem,
    optimum: Option<&AnyAnswer>,
    contender: &mut Contender,
    limits: &Limits,
) -> Result<Answered> {
    let Contender { name, solver } = contender;
    let mut row = AnswerRow {
        problem: problem.id().to_owned(),
        tasks: problem.tasks(),
        nodes: problem.nodes(),
        solver: name.as_ref().into(),
        status: AnswerStatus::Answered(Status::Unknown),
        objective: None,
        proven_gap: None,
        gap_to_optimum: None,
        micros: 0.0,
        first_incumbent_us: None,
    };
    let mut watch = Watch::default();
    match timed(problem, solver.as_mut(), limits, &mut watch) {
        Ok((answer, micros)) => {
            checked(problem, &answer, name)?;
            for found in &watch.found {
                checked(problem, &found.plan, name)?;
            }
            row.status = AnswerStatus::Answered(answer.status());
            row.objective = answer.objective();
            row.proven_gap = answer.gap();
            row.gap_to_optimum = optimum.and_then(|best| gap_to(best, &answer));
            row.micros = micros;
            let first = watch.found.first();
            row.first_incumbent_us = first.map(Found::micros);
        }
        Err(failed @ SolveError::Backend { .. }) => return Err(failed.into()),
        Err(refused) => row.status = AnswerStatus::Refused(refused.to_string()),
    }
    let found = watch.found;
    Ok(Answered { row, found })
}

/// Solves a problem repeatedly. Returns the last answer and the median time in microseconds. `watch` receives
/// the plans of the first solve.
fn timed(
    problem: &AnyProblem,
    solver: &mut dyn AnySolver,
    limits: &Limits,
    watch: &mut Watch,
) -> Result<(AnyAnswer, f64), SolveError> {
    let mut times = Vec::new();
    let begun = Instant::now();
    loop {
        let clock = Instant::now();
        let mut see = |after, plan| watch.see(after, plan);
        let observer: Option<PlanObserver<'_>> = times.is_empty().then_some(&mut see);
        let answer = solver.solve_any(problem, limits, observer)?;
        times.push(clock.elapsed());
        if times.len() >= REPEATS || begun.elapsed() > REPEAT_TIME {
            times.sort_unstable();
            return Ok((answer, times[times.len() / 2].as_secs_f64() * 1e6));
        }
    }
}

fn checked(problem: &AnyProblem, answer: &AnyAnswer, name: &str) -> Result<()> {
    problem
        .check(answer, BigM::Corrected)
        .map_err(|violations| {
            let id = problem.id();
            Error::Run(format!(
                "the answer of {name} to problem {id} fails the check: {}",
                violations.join("; ")
            ))
        })
}
