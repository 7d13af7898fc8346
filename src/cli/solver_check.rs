//! `gleaner solver-check`: whether a program keeps to the protocol of external solvers.

use clap::Args as ClapArgs;
use gleaner_external::conformance::{Check, Verdict, conformance};
use gleaner_external::{PREFIX, SolverCommand};

use super::print;
use gleaner_core::error::{Error, Result};
use gleaner_core::words::printable;

/// Check that a program keeps to the protocol of external solvers.
///
/// It is asked for its name, for small problems whose optimum is known, for an infeasible one, to keep
/// a time limit, to stop, to ignore what it does not know, and to end. The protocol is in
/// docs/SOLVERS.md. The exit code is 1 if a check fails.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  \
    gleaner solver-check \"python3 solvers/python/dp.py\"\n  \
    gleaner solver-check exec:solver.toml")]
pub struct Args {
    /// The command with its arguments, or the manifest. `exec:` may be left out.
    #[arg(value_name = "COMMAND")]
    command: String,
}

/// Runs the subcommand.
///
/// # Errors
/// The program does not start, or a check fails.
pub fn run(args: &Args) -> Result<()> {
    let text = match args.command.starts_with(PREFIX) {
        true => args.command.clone(),
        false => format!("{PREFIX}{}", args.command),
    };
    let command: SolverCommand = text.parse()?;
    let checks = conformance(&command)?;
    let mut failed = 0;
    for Check { name, verdict } in &checks {
        let (mark, seen) = match verdict {
            Verdict::Passed(seen) => ("passed", seen),
            Verdict::Failed(seen) => ("FAILED", seen),
            Verdict::Skipped(reason) => ("skipped", reason),
        };
        failed += u32::from(matches!(verdict, Verdict::Failed(_)));
        print(&format!("{mark:8} {name:30} {}\n", printable(seen)))?;
    }
    match failed {
        0 => Ok(()),
        _ => Err(Error::Run(format!(
            "{failed} of {} checks failed",
            checks.len()
        ))),
    }
}
