//! `gleaner inspect`: what an event log holds.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::inputs::SliceArgs;
use super::{print, remark};
use crate::error::{Error, Result};
use crate::ingest;
use crate::inspect::{self, RescaleCosts};
use crate::output::inspect::{CostSource, json, text};

/// Show what an event log holds: how much is idle, in what fragments, and when.
///
/// Reads any event log that replay reads. Ends with a suggestion for replay's --t-fwd,
/// from the lengths of idle fragments and the tasks' rescale costs. A log inspected whole
/// keeps its rows that change nothing; a slice drops them, as replay does.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  \
    gleaner inspect dataset/idle.csv\n  \
    gleaner inspect dataset/idle.csv --tasks dataset/tasks.toml --json\n  \
    gleaner inspect ndstat-10sdn6-evt.tar.gz --cache --skip-rows 1000 --nodes 400")]
pub struct Args {
    /// The event log; - for stdin.
    #[arg(value_name = "LOG")]
    log: PathBuf,
    #[command(flatten)]
    slice: SliceArgs,
    /// Tasks whose rescale costs the suggestion uses [default: 18 s up, 12 s down].
    #[arg(long, value_name = "FILE")]
    tasks: Option<PathBuf>,
    /// Scaling curves: the original's second pickle.
    #[arg(long, value_name = "FILE", requires = "tasks")]
    curves: Option<PathBuf>,
    /// Most tasks active at once, as in replay.
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    max_tasks: usize,
    /// Print JSON (docs/OUTPUTS.md) instead of text.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// Wrong usage, unreadable or invalid input.
pub fn run(args: &Args) -> Result<()> {
    if args.max_tasks == 0 {
        return Err(Error::Usage("--max-tasks is 0, expected at least 1".into()));
    }
    let (costs, source) = costs(args)?;
    let log = args.slice.read_with_still_rows(&args.log)?;
    let inspection = inspect::inspect(&log.value, costs);
    print(&if args.json {
        json(&inspection)?
    } else {
        text(&inspection, source)
    })
}

fn costs(args: &Args) -> Result<(RescaleCosts, CostSource)> {
    let Some(path) = &args.tasks else {
        let costs = RescaleCosts::typical(args.max_tasks);
        return Ok((costs, CostSource::Typical));
    };
    let tasks = ingest::tasks::read(path, args.curves.as_deref(), false)?;
    remark(&tasks.notes);
    let costs = RescaleCosts::of(&tasks.value.tasks, args.max_tasks);
    Ok((costs, CostSource::Tasks))
}
