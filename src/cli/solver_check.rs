//! `gleaner solver-check`: tests whether a program follows the protocol of external solvers.

use clap::Args as ClapArgs;
use gleaner_exec_solver::conformance::{Check, Verdict, conformance};
use gleaner_exec_solver::{PREFIX, SolverCommand};

use super::print;
use super::terminal::Terminal;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::words::printable;

/// Check that a program follows the protocol of external solvers.
///
/// The program must report its name, solve small problems with known optima, and recognise an infeasible problem. It
/// must also respect a time limit, cancel a problem, ignore unknown fields, and exit when requested. The protocol is
/// in docs/SOLVERS.md. The exit code is 1 if a check fails.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner solver-check \"python3 solvers/python/dp.py\"\n  \
    gleaner solver-check exec:solver.toml")]
pub struct Args {
    /// The command with its arguments, or the manifest. `exec:` may be left out.
    #[arg(value_name = "COMMAND")]
    command: String,
    /// Show no progress bar.
    #[arg(long)]
    quiet: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// The program does not start, or a check fails.
pub fn run(args: &Args) -> Result<()> {
    let text = if args.command.starts_with(PREFIX) {
        args.command.clone()
    } else {
        format!("{PREFIX}{}", args.command)
    };
    let command: SolverCommand = text.parse()?;
    let terminal = Terminal::new(args.quiet);
    let (mut checks, mut failed, mut printed) = (0, 0, Ok(()));
    let finished = conformance(&command, &terminal, &mut |check| {
        checks += 1;
        failed += u32::from(matches!(check.verdict, Verdict::Failed(_)));
        let line = terminal.aside(|| print(&line(&check)));
        if printed.is_ok() {
            printed = line;
        }
    });
    terminal.clear();
    finished?;
    printed?;
    match failed {
        0 => Ok(()),
        _ => Err(Error::Run(format!("{failed} of {checks} checks failed"))),
    }
}

/// Formats a check and its verdict as a line.
fn line(check: &Check) -> String {
    let (mark, seen) = match &check.verdict {
        Verdict::Passed(seen) => ("passed", seen),
        Verdict::Failed(seen) => ("FAILED", seen),
        Verdict::Skipped(reason) => ("skipped", reason),
    };
    format!("{mark:8} {:30} {}\n", check.name, printable(seen))
}
