//! `gleaner solve`: allocation problems in, allocations out, as JSON.

mod models;

use std::borrow::Borrow;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args as ClapArgs;
use gleaner_solvers::{Limits, Problem, SolveError, check};

use super::terminal::Terminal;
use super::{print_json, remark};
use gleaner_core::Observer;
use gleaner_core::error::{Error, Result};
use gleaner_inputs::write::answers::Answer;
use gleaner_setup::solver::report_faults;
use gleaner_setup::{Built, SolverArgs, SolverChoice};

/// Solve allocation problems: JSON in, one JSON line out for each.
///
/// A problem is {"id", "nodes", "t_fwd", "tasks": [{"name", "min_nodes", "max_nodes",
/// "rescale_up", "rescale_down", "curve_nodes", "curve_objective", "current"}]}. It may have
/// "groups": [{"name", "tasks", "min_total", "max_total"}]: bounds on the nodes that several
/// tasks hold together. It may have "goal": "max-min", the goal of share-fair replays;
/// --write-model then writes the model that maximises the least share. A task may have a
/// "weight", which multiplies its objective.
///
/// So that every solver takes a problem, its numbers have ranges: "t_fwd" is from 1e-6 to 1e12
/// seconds. A rescale costs at most 1e12 seconds, and at most a million times what its task earns
/// in a window at its best. Each number of "curve_objective" is 0 or from 1e-100 to 1e100.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  \
    gleaner solve dataset/problems.jsonl\n  \
    gleaner solve --solver highs --time-limit 5 < problem.json\n  \
    gleaner solve problem.json --formulation paper --solver cbc --write-model model.lp")]
pub struct Args {
    /// A JSON object, or JSON lines; - for stdin.
    #[arg(value_name = "FILE", default_value = "-")]
    input: PathBuf,
    /// Also write the model for other solvers. The name ends in .lp or .mps. Each of several
    /// problems gets its own file, NAME-ID.lp.
    #[arg(long, value_name = "FILE")]
    write_model: Option<PathBuf>,
    /// Check every answer with a checker that shares no code with the solvers.
    #[arg(long)]
    check: bool,
    // Last, as the heading of its options holds for all that follow.
    #[command(flatten)]
    solver: SolverArgs,
}

/// Runs the subcommand.
///
/// # Errors
/// Invalid problems, a solver that fails, or an answer that fails the check.
pub fn run(args: &Args) -> Result<()> {
    let solver_args = args.solver_args();
    let limits = solver_args.limits()?;
    let mut solver = solver_args.build()?;
    let problems = gleaner_inputs::problems::read(&args.input)?.value;
    for problem in &problems {
        of_problem(problem, solver.accepts(problem))?;
    }
    if let Some(path) = &args.write_model {
        // The model may be written in either formulation, whichever solver runs.
        let formulation = args.solver.formulation.unwrap_or_default();
        let big_m = args.solver.big_m;
        remark(&models::write_all(
            &problems,
            formulation,
            big_m,
            &args.input,
            path,
        )?);
    }
    for problem in &problems {
        let answer = answer(&mut solver, &limits, problem)?;
        print_json(&gleaner_inputs::write::answers::line(&answer)?)?;
        args.verify(problem, &answer)?;
    }
    report_faults(
        Some(&solver.tally()),
        args.solver.strict,
        &Terminal::default(),
    )
}

impl Args {
    /// The solver; a formulation that is only for the model is not for it.
    fn solver_args(&self) -> SolverArgs {
        match &self.write_model {
            Some(_) if !self.solver.solver.is_milp() => SolverArgs {
                formulation: None,
                ..self.solver.clone()
            },
            _ => self.solver.clone(),
        }
    }

    /// Whether the solver is an external program.
    pub fn starts_a_program(&self) -> bool {
        matches!(self.solver.solver, SolverChoice::Program(_))
    }

    /// Checks an answer if that is wanted.
    ///
    /// # Errors
    /// The answer fails the check.
    fn verify(&self, problem: &Problem, answer: &Answer) -> Result<()> {
        if self.check
            && let Err(violations) = check(problem, &answer.allocation, self.solver.big_m)
        {
            let all: Vec<String> = violations.iter().map(ToString::to_string).collect();
            let all = all.join("; ");
            return Err(Error::Run(format!("problem {}: {all}", problem.id)));
        }
        Ok(())
    }
}

/// Solves problems, which are checked already, without a file.
///
/// # Errors
/// A solver that fails or does not take a problem, or an answer that fails the check.
pub fn answers<P: Borrow<Problem>>(
    args: &Args,
    problems: &[P],
    observer: &dyn Observer,
) -> Result<Vec<Answer>> {
    let solver_args = args.solver_args();
    let limits = solver_args.limits()?;
    let mut solver = solver_args.build()?;
    solver.stop_when(observer.stop());
    let answers = problems.iter().enumerate().map(|(done, problem)| {
        observer.progress(done, problems.len());
        if observer.is_stopped() {
            return Err(Error::Interrupted);
        }
        let problem = problem.borrow();
        of_problem(problem, solver.accepts(problem))?;
        let answer = answer(&mut solver, &limits, problem)?;
        // A program that was stopped has returned its best plan so far, or none.
        if observer.is_stopped() {
            return Err(Error::Interrupted);
        }
        args.verify(problem, &answer)?;
        Ok(answer)
    });
    let answers = answers.collect::<Result<_>>()?;
    report_faults(Some(&solver.tally()), args.solver.strict, observer)?;
    Ok(answers)
}

fn answer(solver: &mut Built, limits: &Limits, problem: &Problem) -> Result<Answer> {
    let clock = Instant::now();
    let allocation = of_problem(problem, solver.solver().solve(problem, limits))?;
    let microseconds = clock.elapsed().as_micros() as u64;
    Ok(Answer {
        id: problem.id.clone(),
        // The name is asked for afterwards, as `auto` chooses by the problem.
        solver: solver.solver().name().to_owned(),
        allocation,
        microseconds,
    })
}

/// A result with the problem's id in its error.
fn of_problem<T>(problem: &Problem, result: Result<T, SolveError>) -> Result<T> {
    result.map_err(|error| {
        if error.is_wrong_choice() {
            Error::Usage(format!("problem {}: {error}", problem.id))
        } else {
            error.into()
        }
    })
}
