//! `gleaner solve`: allocation problems in, allocations out, as JSON.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args as ClapArgs;
use gleaner_solvers::formulations::{self, export};
use gleaner_solvers::{Problem, check};

use super::print;
use super::solver::{Formulation as FormulationArg, SolverArgs};
use crate::error::{Error, Result};
use crate::files;
use crate::{ingest, output};

/// Solve allocation problems: JSON in, one JSON line out for each.
///
/// A problem is {"id", "nodes", "t_fwd", "tasks": [{"name", "min_nodes", "max_nodes",
/// "rescale_up", "rescale_down", "curve_nodes", "curve_objective", "current"}]} and may
/// have "groups": [{"name", "tasks", "min_total", "max_total"}], bounds on the nodes
/// that several tasks hold together, and "goal": "max-min", as of share-fair replays, of
/// which --write-model writes the model of the least share.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  \
    gleaner solve dataset/problems.jsonl\n  \
    gleaner solve --solver highs --time-limit 5 < problem.json\n  \
    gleaner solve problem.json --formulation paper --solver cbc --write-model model.lp")]
pub struct Args {
    /// A JSON object, or JSON lines; - for stdin.
    #[arg(value_name = "FILE", default_value = "-")]
    input: PathBuf,
    #[command(flatten)]
    solver: SolverArgs,
    /// Also write the model for other solvers; the name ends in .lp or .mps. With
    /// several problems each gets a file of its own, NAME-ID.lp.
    #[arg(long, value_name = "FILE")]
    write_model: Option<PathBuf>,
    /// Check every answer with a checker that shares no code with the solvers.
    #[arg(long)]
    check: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// Invalid problems, a solver that fails, or an answer that fails the check.
pub fn run(args: &Args) -> Result<()> {
    // The model may be written in either formulation, whichever solver runs.
    let formulation = args.solver.formulation;
    let solver_args = match (&args.write_model, args.solver.solver) {
        (Some(_), kind) if !kind.is_milp() => SolverArgs {
            formulation: None,
            ..args.solver.clone()
        },
        _ => args.solver.clone(),
    };
    let spec = solver_args.spec()?;
    let limits = solver_args.limits()?;
    let mut solver = spec.build()?;
    let problems = ingest::problems::read(&args.input)?.value;
    for problem in &problems {
        if let Some(path) = &args.write_model {
            let path = if problems.len() == 1 {
                path.clone()
            } else {
                numbered(path, &problem.id)
            };
            write_model(problem, formulation, args, &path)?;
        }
        let clock = Instant::now();
        let answer = solver.solve(problem, &limits)?;
        let microseconds = clock.elapsed().as_micros() as u64;
        print(&output::answers::line(
            problem,
            solver.name(),
            &answer,
            microseconds,
        )?)?;
        if args.check
            && let Err(violations) = check(problem, &answer, spec.big_m)
        {
            let all: Vec<String> = violations.iter().map(ToString::to_string).collect();
            return Err(Error::Run(format!(
                "problem {}: {}",
                problem.id,
                all.join("; ")
            )));
        }
    }
    Ok(())
}

/// `dir/name.lp` as `dir/name-ID.lp`, with the id made fit for a file name.
fn numbered(path: &Path, id: &str) -> PathBuf {
    let fit: String = id
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        })
        .collect();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-{fit}.{extension}"))
}

fn write_model(
    problem: &Problem,
    formulation: Option<FormulationArg>,
    args: &Args,
    path: &Path,
) -> Result<()> {
    let write = match path.extension().and_then(|e| e.to_str()) {
        Some("lp") => export::write_lp,
        Some("mps") => export::write_mps,
        _ => {
            return Err(Error::Usage(format!(
                "--write-model {}: expected a name ending in .lp or .mps",
                path.display()
            )));
        }
    };
    let formulation = formulation.map(Into::into).unwrap_or_default();
    let model = formulations::build(problem, formulation, args.solver.big_m.into())?;
    files::write(path, |out| write(&model, out))
}
