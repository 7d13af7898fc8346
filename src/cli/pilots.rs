//! `gleaner pilots`: simulates pilot jobs on the idle nodes of an event log.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde::Serialize;

use super::report::Drawn;
use super::terminal::Terminal;
use super::{print, print_json, remark};
use crate::pilots::{PilotsOfLog, PilotsSettings};
use gleaner_domain::error::{Error, Result};
use gleaner_runs::pilots::json;

/// Simulate pilot jobs on idle nodes, and find the best wall times.
///
/// A pilot holds an idle node until its wall time ends or the batch scheduler takes the node back.
/// After its start-up, it accepts small jobs, such as serverless functions. Three models are always shown together.
/// fits: the scheduler knows how long nodes stay idle. kept: it does not know, and preempted pilots keep their work.
/// lost: it does not know, and preempted pilots lose their work. fits is optimistic, because no scheduler knows how
/// long nodes stay idle. docs/PILOTS.md explains the models. In this help, "the original" is BFTrainer's replayer.
#[derive(Debug, ClapArgs, Serialize)]
#[command(before_help = "Examples:\n  \
    gleaner pilots dataset/idle.csv --lengths 2,4,8,16,32\n  \
    gleaner pilots dataset/idle.csv --best 6\n  \
    gleaner pilots dataset/idle.csv --best 6 --grid 2 --delay 0 -o pilots.html")]
pub struct Args {
    /// The event log; - for stdin.
    #[arg(value_name = "LOG")]
    log: PathBuf,
    #[command(flatten)]
    #[serde(flatten)]
    settings: PilotsSettings,
    /// Print JSON instead of text. docs/OUTPUTS.md describes it.
    #[arg(long)]
    json: bool,
    /// Show no progress bar.
    #[arg(long)]
    #[serde(skip)]
    quiet: bool,
    /// Write a page or pictures instead of printing the text.
    #[command(flatten)]
    #[serde(skip)]
    drawn: Drawn,
}

/// Runs the subcommand.
///
/// # Errors
/// The usage is wrong, an input is unreadable or invalid, an output cannot be written, or the command is interrupted.
/// After an interrupt, the ladders found so far are printed before the error.
pub fn run(args: &Args) -> Result<()> {
    let terminal = Terminal::new(args.quiet);
    let found = PilotsOfLog::of(&args.log, &args.settings, &terminal);
    terminal.clear();
    let found = found?;
    let is_text = args.drawn.is_nothing();
    if !is_text {
        let info = found.info(args)?;
        let page = gleaner_report::of_pilots(&found.pilots, &found.fragments, &info);
        args.drawn.write(&page, &terminal)?;
        remark(&args.drawn.written());
    }
    if args.json {
        print_json(&json(&found.pilots, &found.fragments)?)?;
    } else if is_text {
        print(&found.text())?;
    }
    if found.pilots.complete {
        Ok(())
    } else {
        Err(Error::Interrupted)
    }
}
