//! Solves single allocation problems.

use std::time::Instant;

use gleaner_classes::{AnyProblem, AnySolver};
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_inputs::write::answers::Answer;
use gleaner_setup::settings;
use gleaner_setup::settings::Spec;
use gleaner_setup::solver::report_faults;
use gleaner_setup::{Built, SolverArgs, SolverName};
use gleaner_solvers::{Limits, SolveError};
use serde::Serialize;

settings! {
    /// The settings for solving problems.
    #[derive(Debug, Clone, Serialize)]
    pub struct SolvingSettings {
        /// Check every answer with a checker that shares no code with the solvers.
        pub check: bool = false => Spec::flag();
        /// The solver and its stopping conditions.
        #[serde(flatten)]
        pub solver: SolverArgs;
    }
}

impl SolvingSettings {
    /// Whether the solver is an external program.
    pub fn starts_a_program(&self) -> bool {
        matches!(self.solver.solver, SolverName::Program(_))
    }

    /// Checks an answer if the settings require it.
    ///
    /// # Errors
    /// The answer fails the check. An answer with node classes fails if the problem has none, and vice versa.
    pub fn verify(&self, problem: &AnyProblem, answer: &Answer) -> Result<()> {
        if !self.check {
            return Ok(());
        }
        let checked = problem.check(&answer.solution, self.solver.big_m);
        checked.map_err(|violations| {
            Error::Run(format!(
                "problem {}: {}",
                problem.id(),
                violations.join("; ")
            ))
        })
    }
}

/// Solves problems that have already been checked, without reading or writing a file.
///
/// # Errors
/// A solver fails or does not accept a problem, or an answer fails the check.
pub fn answers(
    settings: &SolvingSettings,
    problems: &[AnyProblem],
    observer: &dyn Observer,
) -> Result<Vec<Answer>> {
    let args = &settings.solver;
    let limits = args.limits()?;
    let mut solver = args.build(&args.choice()?)?;
    solver.stop_when(observer.stop());
    let answers = problems.iter().enumerate().map(|(done, problem)| {
        observer.progress(done, problems.len());
        if observer.is_stopped() {
            return Err(Error::Interrupted);
        }
        check_accepts(&solver, problem)?;
        let answer = answer(&mut solver, &limits, problem)?;
        // The answer of a stopped solver is discarded: it may be only the best plan so far, or no plan.
        if observer.is_stopped() {
            return Err(Error::Interrupted);
        }
        settings.verify(problem, &answer)?;
        Ok(answer)
    });
    let answers = answers.collect::<Result<_>>()?;
    report_faults(Some(&solver.tally()), args.strict, observer)?;
    Ok(answers)
}

/// Checks that the solver accepts the problem, without solving it.
///
/// # Errors
/// [`Error::Usage`] if the solver does not accept the problem. The message names the problem.
pub fn check_accepts(solver: &Built, problem: &AnyProblem) -> Result<()> {
    of_problem(problem.id(), solver.accepts(problem))
}

/// Solves a problem, and measures the time that this takes.
///
/// # Errors
/// The solver fails.
pub fn answer(solver: &mut Built, limits: &Limits, problem: &AnyProblem) -> Result<Answer> {
    let clock = Instant::now();
    let solution = solver.solve_any(problem, limits, None);
    let microseconds = clock.elapsed().as_micros() as u64;
    Ok(Answer {
        id: problem.id().to_owned(),
        solution: of_problem(problem.id(), solution)?,
        // The name is requested after the problem has been solved, because `auto` chooses a solver for each problem.
        solver: solver.name(problem).to_owned(),
        classes: problem.class_names(),
        microseconds,
    })
}

/// Converts the error in a result. If the chosen solver does not accept the problem, the error names the problem.
///
/// # Errors
/// The chosen solver does not accept the problem, or it fails.
pub fn of_problem<T>(id: &str, result: Result<T, SolveError>) -> Result<T> {
    result.map_err(|error| {
        if error.is_wrong_choice() {
            Error::Usage(format!("problem {id}: {error}"))
        } else {
            error.into()
        }
    })
}
