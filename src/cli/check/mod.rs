//! `gleaner check`: verifies that results are complete, and consistent with each other and with the inputs.

mod again;
mod inputs;
mod replay;
mod simulate;
mod sweep;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use serde_json::{Value, json};

use super::terminal::Terminal;
use super::{print, print_json};
use gleaner_check::again::Again;
use gleaner_check::{Findings, files, tables};
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::run::RUN_FILE;
use gleaner_domain::words::counted;
use gleaner_runs::read as runs;
use gleaner_runs::read::RunResult;

/// Check that the files and figures of runs are correct.
///
/// Every file must be unchanged, and every figure must follow from the tables and the inputs. The
/// report has three parts: the errors found, the number of values verified, and the columns and
/// fields that were not verified, with the reason. The inputs are read from their recorded paths.
/// The checks share no code with the replay or the simulation. docs/OUTPUTS.md lists the verified values.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner check run\n  \
    gleaner check run policies\n  \
    gleaner check archive/run --inputs archive\n  \
    gleaner check run --again\n  \
    gleaner check swept --again --sample 20 --seed 7")]
pub struct Args {
    /// Run directories.
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Directory in which the runs were started. Relative paths of inputs are resolved against it
    /// [default: the current directory].
    #[arg(long, value_name = "DIR")]
    inputs: Option<PathBuf>,
    /// Also repeat each run in a temporary directory, and compare the files byte for byte. For a
    /// sweep, repeat a sample of its runs.
    #[arg(long)]
    again: bool,
    /// Number of runs of a sweep that --again repeats.
    #[arg(long, value_name = "N", default_value_t = 10, requires = "again")]
    sample: usize,
    /// Seed with which --again samples the runs of a sweep.
    #[arg(long, value_name = "NUMBER", default_value_t = 0, requires = "again")]
    seed: u64,
    /// Allow --again to start the programs named in the run directory (solvers given as exec:).
    #[arg(long, requires = "again")]
    run_programs: bool,
    /// Print the report as JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// A file is missing or has been changed, an input has changed, a figure does not follow from the tables and inputs, or
/// a repeated run gives different results.
pub fn run(args: &Args) -> Result<()> {
    let here = |path: &PathBuf| std::path::absolute(path);
    let paths: std::io::Result<Vec<PathBuf>> = args.runs.iter().map(here).collect();
    let paths = paths.map_err(|error| Error::io("find", "the current directory", error))?;
    if let Some(directory) = &args.inputs {
        let entered = std::env::set_current_dir(directory);
        entered.map_err(|error| Error::io("enter", directory, error))?;
    }
    let terminal = Terminal::default();
    let (mut failed, mut reports) = (0, Vec::new());
    for (path, name) in paths.iter().zip(&args.runs) {
        let findings = examine(path, &terminal)?;
        let is_sound = findings.wrong_count == 0;
        // A run with errors is not repeated.
        let again = (args.again && is_sound).then(|| run_again(path, args, &terminal));
        let again = again.transpose()?;
        terminal.clear();
        let is_same = again
            .as_ref()
            .is_none_or(|again| again.different.is_empty());
        failed += usize::from(!is_sound || !is_same);
        if args.json {
            reports.push(as_json(name, &findings, again.as_ref()));
        } else {
            let again = again.map_or(String::new(), |again| format!("  {again}\n"));
            print(&format!("{}: {findings}\n{again}", name.display()))?;
        }
    }
    if args.json {
        let text = serde_json::to_string_pretty(&reports);
        let text = text.map_err(|error| Error::Run(error.to_string()))?;
        print_json(&format!("{text}\n"))?;
    }
    match failed {
        0 => Ok(()),
        _ => Err(Error::Run(format!(
            "{} failed the check: the report lists the errors",
            counted(failed, "run")
        ))),
    }
}

/// Checks a run directory.
///
/// # Errors
/// The directory is not a run directory; a file that the check reads is missing or damaged; or the inputs are missing
/// or differ from those of the run. [`Error::Stopped`] if the check is stopped.
pub fn examine(path: &Path, observer: &dyn Observer) -> Result<Findings> {
    let info = runs::info(path)?;
    let kept: &[&str] = match info.command.as_str() {
        "sweep" => &["runs", "batch"],
        _ => &[],
    };
    let mut findings = files(path, &info.files, kept, observer)?;
    if findings.wrong_count > 0 {
        // The other checks read these files, so they must be intact.
        return Ok(findings);
    }
    findings.merge(tables::forms(&info)?);
    let run = runs::read(path)?;
    findings.merge(match &run.result {
        RunResult::Replay(replay) => replay::check(&run.info, replay, observer)?,
        RunResult::Simulate(simulation) => simulate::check(&run.info, simulation, observer)?,
        RunResult::Sweep(sweep) => sweep::check(&run.info, sweep, observer)?,
        RunResult::Compare(_) => compared(),
    });
    findings.covers(RUN_FILE, ["command"]);
    let why = "it is the version of the program that wrote the run";
    findings.not_verified(RUN_FILE, "version", why);
    findings.not_verified(RUN_FILE, "seconds", "it contains measured times");
    tables::complete(&info, &run_file(path)?, &mut findings)?;
    Ok(findings)
}

/// Repeats the command that wrote a run directory.
fn run_again(path: &Path, args: &Args, observer: &dyn Observer) -> Result<Again> {
    let info = runs::info(path)?;
    match info.command.as_str() {
        "sweep" => sweep::again(&info, args, observer),
        "replay" | "simulate" => again::run(&info, args.run_programs, observer),
        other => Err(Error::Usage(format!(
            "--again repeats replays, simulations and sweeps, but {} is a run of {other}",
            path.display()
        ))),
    }
}

/// The findings for a comparison of solvers. Its tables are not verified, because they contain measured times and the
/// solvers' answers.
fn compared() -> Findings {
    let mut findings = Findings::default();
    let why = "it contains the answers and times of solvers, which are not recomputed";
    for table in [
        "answers",
        "solvers",
        "incumbents",
        "programs.json",
        RUN_FILE,
    ] {
        findings.not_verified(table, Findings::WHOLE, why);
    }
    findings
}

/// The content of `run.json`.
fn run_file(path: &Path) -> Result<Value> {
    let file = path.join(RUN_FILE);
    let bytes = fs::read(&file).map_err(|error| Error::io("read", &file, error))?;
    serde_json::from_slice(&bytes).map_err(|error| Error::Run(error.to_string()))
}

/// The report on a run, as JSON.
fn as_json(run: &Path, findings: &Findings, again: Option<&Again>) -> Value {
    let unverified = findings.unverified();
    let unverified = unverified
        .map(|(file, name, reason)| json!({"file": file, "name": name, "reason": reason}));
    json!({
        "run": run.display().to_string(),
        "verified": findings.verified,
        "wrong": findings.wrong_count,
        "sentences": findings.wrong,
        "not_verified": unverified.collect::<Vec<_>>(),
        "again": again.map(|again| json!({
            "same": again.same,
            "different": again.different,
            "not_compared": again.excepted,
        })),
    })
}
