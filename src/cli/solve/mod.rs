//! `gleaner solve`: solves allocation problems, with JSON as input and output.

mod models;

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::terminal::Terminal;
use super::{print_json, remark};
use crate::solving::{SolvingSettings, answer, check_accepts};
use gleaner_domain::error::Result;
use gleaner_setup::SolverArgs;
use gleaner_setup::solver::report_faults;

/// Solve allocation problems, and print one line of JSON for each.
///
/// A problem is {"id", "nodes", "t_fwd", "tasks": [{"name", "min_nodes", "max_nodes",
/// "rescale_up", "rescale_down", "curve_nodes", "curve_objective", "current"}]}. A problem may have
/// "groups": [{"name", "tasks", "min_total", "max_total"}]: bounds on the total number of nodes that the tasks with the
/// names "tasks" hold. A problem may have "goal": "max-min", the goal of share-fair replays.
/// In this case, --write-model writes the model that maximises the least share. A task may have a
/// "weight", which multiplies its objective.
///
/// The numbers of a problem must be in ranges that every solver can handle: "t_fwd" is from 1e-6 to 1e12 seconds.
/// Rescaling a task costs at most 1e12 seconds, and at most a million times the task's greatest gain in a window. Each
/// number in "curve_objective" is 0 or from 1e-100 to 1e100.
///
/// A problem whose nodes are of several classes has "classes": [{"name", "nodes"}] in place of "nodes". Each task holds
/// nodes of only one class at a time. Instead of "curve_nodes" and "curve_objective", each task has "curves": {class:
/// {"nodes", "objective"}}. "min_nodes" and "max_nodes" are numbers, or tables by class. "move" is the cost of a change
/// of class in seconds (default: "rescale_up" plus "rescale_down"), and "current" is {"class", "nodes"}. With "counts":
/// "points", a task may hold only the node counts of its curve's points. Problems with classes cannot have a goal or
/// weights.
///
/// Problems with classes have a second form, in which each task has "options": [[class, nodes, value], ...] in place of
/// "curves". Here, class is an index, and value is what the option adds to the objective. "none" is the value of
/// holding nothing (default: 0). A task with "fixed": true keeps its "current", which is [class, nodes]. This form has
/// no "t_fwd".
///
/// In the answer to a problem with classes, "counts" has {"class", "nodes"} or null for each task.
/// "prices" lists the price of each class: approximately what an additional node would add to the
/// objective. The solvers are exact (the default), highs, cbc, equal-share, and programs that
/// support classes. In "groups", "max_total" is a number or a table by class, and "min_total" is a number;
/// only highs, cbc and programs support groups.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner solve dataset/problems.jsonl\n  \
    gleaner solve dataset/class-problems.jsonl --check\n  \
    gleaner solve --solver highs --time-limit 5 < problem.json\n  \
    gleaner solve problem.json --formulation paper --solver cbc --write-model model.lp")]
pub struct Args {
    /// A JSON object, or JSON lines; - for stdin.
    #[arg(value_name = "FILE", default_value = "-")]
    input: PathBuf,
    /// Also write the model for other solvers. The name ends in .lp or .mps. If there are
    /// several problems, each problem gets its own file, NAME-ID.lp.
    #[arg(long, value_name = "FILE")]
    write_model: Option<PathBuf>,
    #[command(flatten)]
    settings: SolvingSettings,
}

/// Runs the subcommand.
///
/// # Errors
/// A problem is invalid, the solver fails, or an answer fails the check.
pub fn run(args: &Args) -> Result<()> {
    let solver_args = args.solver_args();
    let limits = solver_args.limits()?;
    let mut solver = solver_args.build(&solver_args.choice()?)?;
    let problems = gleaner_inputs::problems::read(&args.input)?.value;
    for problem in &problems {
        check_accepts(&solver, problem)?;
    }
    if let Some(path) = &args.write_model {
        // The formulation of the written model does not depend on the solver that runs.
        let formulation = args.settings.solver.formulation.unwrap_or_default();
        let big_m = args.settings.solver.big_m;
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
        args.settings.verify(problem, &answer)?;
    }
    report_faults(
        Some(&solver.tally()),
        args.settings.solver.strict,
        &Terminal::default(),
    )
}

impl Args {
    /// The settings of the solver. A formulation that applies only to the written model is removed.
    fn solver_args(&self) -> SolverArgs {
        match &self.write_model {
            Some(_) if !self.settings.solver.solver.is_milp() => SolverArgs {
                formulation: None,
                ..self.settings.solver.clone()
            },
            _ => self.settings.solver.clone(),
        }
    }
}
