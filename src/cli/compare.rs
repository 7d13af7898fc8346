//! `gleaner compare`: solvers side by side.

use std::path::PathBuf;
use std::time::Instant;

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args as ClapArgs};
use gleaner_solvers::{Problem, SolverKind, SolverSpec};
use serde::Serialize;

use super::inputs::LogArgs;
use super::progress::Progress;
use super::solver::limits;
use super::{interrupt, print, remark};
use crate::compare::{CONTENDERS, Contender, Recorder, compare, summarise};
use crate::error::{Error, Result};
use crate::ingest::{self, SourceId};
use crate::output::compare as tables;
use crate::output::run::{End, RunDir, Seconds};
use crate::replay::{self, Control, SolverDecider};

/// Compare solvers on the same problems: objective, gap to the optimum, time.
///
/// The problems come from a JSON file, or from every k-th event of a log replayed with
/// the exact solver. Every answer is checked.
#[derive(Debug, ClapArgs, Serialize)]
#[command(group = ArgGroup::new("what").required(true).args(["problems", "events"]))]
#[command(after_help = "Examples:\n  \
    gleaner compare --problems dataset/problems.jsonl\n  \
    gleaner compare --events dataset/idle.csv --tasks dataset/tasks.toml --every 100 \\\n      \
        --solvers exact,highs,equal-share --out compared")]
pub struct Args {
    /// Problems as JSON or JSON lines; - for stdin.
    #[arg(long, value_name = "FILE")]
    problems: Option<PathBuf>,
    #[command(flatten)]
    #[serde(flatten)]
    log: LogArgs,
    /// Compare on the first and then every K-th decision of the log.
    #[arg(long, value_name = "K", default_value_t = 100)]
    every: usize,
    /// Solvers to compare [default: all that this build has].
    #[arg(long, value_delimiter = ',', value_name = "NAME,…",
          value_parser = PossibleValuesParser::new(CONTENDERS.map(|c| c.name)))]
    solvers: Vec<String>,
    /// Seconds that a solver has for one problem.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    time_limit: f64,
    /// Relative gap at which MILP solvers call a plan optimal.
    #[arg(long, value_name = "GAP", default_value = "1e-9")]
    gap: f64,
    /// Directory for run.json and the tables as CSV and Parquet.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// No progress bar.
    #[arg(long)]
    quiet: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// Wrong usage, invalid input, a solver that fails, or an interrupt.
pub fn run(args: &Args) -> Result<()> {
    let contenders = contenders(args)?;
    let limits = limits(args.time_limit, args.gap)?;
    let open = |path| RunDir::open(path, "compare", args);
    let directory = args.out.as_deref().map(open).transpose()?;
    let clock = Instant::now();
    let (problems, sources) = problems(args)?;
    let read = clock.elapsed().as_secs_f64();
    remark(&[format!("comparing on {} problems", problems.len())]);

    let clock = Instant::now();
    let stop = interrupt::flag();
    let mut progress = Progress::new(args.quiet);
    let mut update = |done, total| progress.update(done, total);
    let rows = compare(&problems, &contenders, &limits, stop, &mut update)?;
    progress.finish();
    let lines = summarise(&rows, &contenders);
    let complete = rows.len() == problems.len() * contenders.len();
    if let Some(directory) = directory {
        directory.write_table(&tables::answers(&rows))?;
        directory.write_table(&tables::solvers(&lines))?;
        directory.finish(&End {
            sources: &sources,
            complete,
            seconds: Seconds {
                read,
                compute: clock.elapsed().as_secs_f64(),
                write: 0.0,
            },
        })?;
    }
    print(&tables::text(&lines))?;
    if complete {
        Ok(())
    } else {
        Err(Error::Interrupted)
    }
}

fn contenders(args: &Args) -> Result<Vec<Contender>> {
    if args.solvers.is_empty() {
        return Ok(CONTENDERS
            .into_iter()
            .filter(|c| c.spec.build().is_ok())
            .collect());
    }
    let named = |name: &String| CONTENDERS.into_iter().find(|c| c.name == name);
    Ok(args.solvers.iter().filter_map(named).collect())
}

fn problems(args: &Args) -> Result<(Vec<Problem>, Vec<SourceId>)> {
    if let Some(path) = &args.problems {
        let loaded = ingest::problems::read(path)?;
        return Ok((loaded.value, loaded.sources));
    }
    let inputs = args.log.read(false)?;
    let options = args.log.options()?;
    let exact = SolverSpec::new(SolverKind::Exact);
    let mut recorder = Recorder::new(
        SolverDecider::new(exact, limits(args.time_limit, args.gap)?)?,
        args.every,
    );
    let control = Control {
        stop: interrupt::flag(),
        progress: &mut |_, _| {},
    };
    replay::run(&inputs.log, &inputs.tasks, &options, &mut recorder, control)?;
    if recorder.problems.is_empty() {
        return Err(Error::Run(
            "the replay met no event with idle nodes and active tasks".into(),
        ));
    }
    Ok((recorder.problems, inputs.sources))
}
