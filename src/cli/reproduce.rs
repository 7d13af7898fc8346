//! `gleaner reproduce`: reproduces published tables and figures.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args as ClapArgs, ValueEnum};
use serde::Serialize;

use super::terminal::Terminal;
use super::{print, remark};
use gleaner_document::{Block, Grid, Head, text};
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::Named;
use gleaner_domain::results::reproduce::{System, Verdict, count_verdicts};
use gleaner_domain::results::run::Seconds;
use gleaner_report::html;
use gleaner_reproduce::{Reproduction, SolverTimes, needed_by, reproduce, reproduce_drawn};
use gleaner_runs::read::RunInfo;
use gleaner_runs::reproduce::{markdown, rows, table, verdicts};
use gleaner_runs::run::{End, RunDir};
use gleaner_solvers::{SolverKind, SolverSpec};

/// Recompute the published values of related systems.
///
/// Creates the tables and figures of these systems, with each value next to the published value.
///
/// Each value gets a verdict: equal to the published decimals, within 1, 5 or 10 %, different, or not reproducible from
/// public data. docs/REPRODUCED.md is the result of `gleaner reproduce all`.
///
/// For Sia, solvers are also timed on its allocation problems. Without --data, the problems are drawn
/// at random instead.
#[derive(Debug, ClapArgs, Serialize)]
#[command(before_help = "Examples:\n  \
    gleaner reproduce --list\n  \
    gleaner reproduce sysu --data DIR -o reproduced\n  \
    gleaner reproduce sia -o reproduced\n  \
    gleaner reproduce all --data DIR -o reproduced")]
pub struct Args {
    /// The system to reproduce [default with --list: all].
    #[arg(value_enum, value_name = "SYSTEM", required_unless_present = "list")]
    system: Option<Choice>,
    /// Directory with the published data; --list names its files. Optional only for sia.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Directory for reproduced.md, reproduce.html and the table as CSV and Parquet.
    #[arg(short, long, value_name = "DIR", required_unless_present = "list")]
    out: Option<PathBuf>,
    /// Solvers to time on Sia's problems, separated by commas [default: those of exact, highs and cbc
    /// that this build includes].
    #[arg(long, value_enum, value_name = "NAMES", value_delimiter = ',')]
    solvers: Vec<TimedSolver>,
    /// Only list the files that are needed, and where they come from.
    #[arg(long)]
    list: bool,
    /// Show no progress bar.
    #[arg(long)]
    quiet: bool,
}

/// A system, or all systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Choice {
    /// Lucid's tables 4, 5 and 7, figures 7, 8, 9 and 13, and its models
    Lucid,
    /// The reproduction of Lucid at Sun Yat-sen University: its tables, figures and ablations
    Sysu,
    /// BFTrainer's replays of Summit's idle nodes
    Bftrainer,
    /// Driple's published weights, and its training with and without transfer learning
    Driple,
    /// HPC-Whisk's figures on idle nodes and pilot jobs, and the best ladders of wall times
    Hpcwhisk,
    /// The allocation problems of Sia's scheduling rounds, and the times of solvers
    Sia,
    /// All systems; takes about two minutes on two cores
    All,
}

/// A solver that can be timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum TimedSolver {
    /// The exact solver
    Exact,
    /// The MILP solver HiGHS
    Highs,
    /// The MILP solver CBC
    Cbc,
}

impl From<TimedSolver> for SolverKind {
    fn from(solver: TimedSolver) -> Self {
        match solver {
            TimedSolver::Exact => SolverKind::Exact,
            TimedSolver::Highs => SolverKind::Highs,
            TimedSolver::Cbc => SolverKind::Cbc,
        }
    }
}

impl Choice {
    fn systems(self) -> Vec<System> {
        match self {
            Choice::Lucid => vec![System::Lucid],
            Choice::Sysu => vec![System::Sysu],
            Choice::Bftrainer => vec![System::Bftrainer],
            Choice::Driple => vec![System::Driple],
            Choice::Hpcwhisk => vec![System::Hpcwhisk],
            Choice::Sia => vec![System::Sia],
            Choice::All => System::ALL.to_vec(),
        }
    }
}

/// Runs the subcommand.
///
/// # Errors
/// `--data` is missing, a file is missing or faulty, a computation fails, the results cannot be written, or the command
/// is interrupted. An interrupt is reported after the results of the finished systems have been written.
pub fn run(args: &Args) -> Result<()> {
    let systems = args.system.unwrap_or(Choice::All).systems();
    let (Some(out), false) = (&args.out, args.list) else {
        return list(&systems, args.data.as_deref());
    };
    match &args.data {
        Some(data) => {
            gleaner_reproduce::check_files(data, &systems)?;
            remark(&gleaner_reproduce::changed_files(data, &systems)?);
        }
        None if systems == [System::Sia] => remark(&[
            "without --data: the problems are drawn at random and do not come from Sia".to_owned(),
        ]),
        None => {
            let what = "--data DIR is missing: specify the directory with the published data";
            return Err(Error::Usage(what.to_owned()));
        }
    }
    let directory = RunDir::open(out, "reproduce", args)?;
    let clock = Instant::now();
    let made = make(args, &systems)?;
    let compute = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    write(args, &directory, out, &made)?;
    let written = directory.finish(&End {
        sources: &made.sources,
        complete: made.complete,
        seconds: Seconds {
            read: 0.0,
            compute,
            write: clock.elapsed().as_secs_f64(),
        },
    })?;
    remark(&[written]);
    print(&summary(&made, compute))?;
    if made.complete {
        Ok(())
    } else {
        Err(Error::Interrupted)
    }
}

impl Args {
    /// The chosen solvers; if none is chosen, all that this build includes.
    fn timed_solvers(&self) -> Vec<SolverKind> {
        if !self.solvers.is_empty() {
            return self.solvers.iter().copied().map(SolverKind::from).collect();
        }
        let all = TimedSolver::value_variants().iter().copied();
        let is_built = |kind: &SolverKind| SolverSpec::new(*kind).build().is_ok();
        all.map(SolverKind::from).filter(is_built).collect()
    }
}

/// Lists the files that the systems need. If a directory is given, the list shows which files exist.
fn list(systems: &[System], data: Option<&Path>) -> Result<()> {
    let mut text = String::new();
    for file in needed_by(systems) {
        let state = match data.map(|data| data.join(file.path).is_file()) {
            None => "",
            Some(true) => "there    ",
            Some(false) => "missing  ",
        };
        text += &format!("{state}{}\n    {}\n", file.path, file.holds);
    }
    print(&text)
}

fn make(args: &Args, systems: &[System]) -> Result<Reproduction> {
    let terminal = Terminal::new(args.quiet);
    let solvers = args.timed_solvers();
    let made = match &args.data {
        Some(data) => reproduce(data, systems, &solvers, &terminal),
        None => reproduce_drawn(&solvers, &terminal),
    };
    terminal.clear();
    made
}

/// Writes the document, the page and the table.
fn write(args: &Args, directory: &RunDir, out: &Path, made: &Reproduction) -> Result<()> {
    let document = markdown(&made.artifacts);
    directory.write("reproduced.md", |file| {
        std::io::Write::write_all(file, document.as_bytes())
    })?;
    let info = RunInfo::of_this("reproduce", out, args, &made.sources)?;
    let page = html::page(&gleaner_report::of_reproduction(&made.artifacts, &info))?;
    directory.write("reproduce.html", |file| {
        std::io::Write::write_all(file, page.as_bytes())
    })?;
    let rows = rows(&made.artifacts);
    directory.write_table(&table(&rows))?;
    let counts = Verdict::ALL.iter().zip(count_verdicts(&rows));
    let counts: serde_json::Map<_, _> = counts
        .map(|(verdict, count)| (verdict.name().to_owned(), count.into()))
        .collect();
    if !made.times.is_empty() {
        directory.write_json("solvers.json", &made.times)?;
    }
    directory.write_json("summary.json", &counts)
}

/// The number of values with each verdict, and the times of the solvers.
fn summary(made: &Reproduction, seconds: f64) -> String {
    let artifacts = made.artifacts.len();
    let made_again = format!("{artifacts} tables and figures reproduced in {seconds:.1} s");
    let mut blocks = vec![
        Block::Note(made_again),
        Block::Facts(verdicts(&made.artifacts)),
    ];
    if !made.times.is_empty() {
        blocks.push(Block::Grid(times(&made.times)));
    }
    text(&blocks)
}

/// A table of solution times, with a row for each set of problems and each solver.
fn times(times: &[SolverTimes]) -> Grid {
    let heads = [
        Head::text("problems"),
        Head::text("solver"),
        Head::number("proven"),
        Head::number("deviation"),
        Head::number("median"),
        Head::number("90 %"),
        Head::number("slowest"),
        Head::number("total"),
        Head::number("ratio to exact (mean)"),
        Head::number("ratio (total)"),
        Head::number("ratio (minimum)"),
    ];
    let milliseconds = |seconds: f64| format!("{:.3} ms", seconds * 1e3);
    let ratio = |ratio: Option<f64>| ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.1}"));
    Grid::of("Solvers on Sia's problems", heads, times, |row| {
        [
            row.set.clone(),
            row.solver.clone(),
            format!("{} of {}", row.proven, row.problems),
            row.deviation
                .map_or("-".to_owned(), |gap| format!("{gap:.1e}")),
            milliseconds(row.median_seconds),
            milliseconds(row.p90_seconds),
            milliseconds(row.max_seconds),
            format!("{:.3} s", row.total_seconds),
            ratio(row.mean_ratio),
            ratio(row.total_ratio),
            ratio(row.least_ratio),
        ]
    })
}
