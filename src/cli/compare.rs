//! `gleaner compare`: compares solvers on the same problems.

use std::path::PathBuf;

use clap::{ArgGroup, Args as ClapArgs};
use serde::Serialize;

use super::terminal::Terminal;
use super::{explained, print, remark};
use crate::comparison::{ComparisonSettings, OpenedComparison};
use gleaner_document::text;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::programs::Tally;
use gleaner_exec_solver::TallyHandle;
use gleaner_runs::compare as tables;
use gleaner_runs::read::programs;
use gleaner_runs::run::RunDir;
use gleaner_setup::solver::report_faults;

const EXAMPLES: &str = "Examples:\n  \
    gleaner compare --problems dataset/problems.jsonl\n  \
    gleaner compare --events dataset/idle.csv --tasks dataset/tasks.toml --every 100 \\\n      \
        --solvers exact,highs,equal-share --out compared";

/// Compare solvers on the same problems.
///
/// The tables show each solver's objective, its gap to the optimum, its time, and the time to its
/// first plan. The problems come from a JSON file, or from every K-th decision of a replay with
/// --solver auto. Every answer is checked. After a few problems, an estimate of the run time is
/// printed. In this help, "the original" is BFTrainer's replayer.
#[derive(Debug, ClapArgs, Serialize)]
#[command(group = ArgGroup::new("what").required(true).args(["problems", "events"]))]
#[command(before_help = EXAMPLES, after_long_help = explained(&tables::terms()))]
pub struct Args {
    #[command(flatten)]
    #[serde(flatten)]
    settings: ComparisonSettings,
    /// Directory for run.json and the tables as CSV and Parquet.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Show no progress bar.
    #[arg(long)]
    quiet: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// The usage is wrong, an input is invalid, a solver fails, or the command is interrupted.
pub fn run(args: &Args) -> Result<()> {
    let terminal = Terminal::new(args.quiet);
    let settings = &args.settings;
    let opened = OpenedComparison::read(settings, Vec::new(), &terminal)?;
    let open = |path| RunDir::open(path, "compare", args);
    let directory = args.out.as_deref().map(open).transpose()?;
    let compared = opened.compare(&terminal)?;
    terminal.clear();
    if let Some(directory) = directory {
        remark(&[compared.write(directory)?]);
    }
    let tallies: Vec<Tally> = compared.tallies.iter().map(TallyHandle::get).collect();
    let programs = programs(&compared.lines, &tallies);
    print(&text(&tables::compared(&compared.lines, programs)))?;
    for tally in &compared.tallies {
        report_faults(Some(tally), settings.strict, &terminal)?;
    }
    for tally in &compared.ours {
        report_faults(Some(tally), settings.strict, &terminal)?;
    }
    if compared.is_complete {
        Ok(())
    } else {
        Err(Error::Interrupted)
    }
}
