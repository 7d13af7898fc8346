//! `gleaner inspect`: describes an event log.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde::Serialize;

use super::report::Drawn;
use super::terminal::Terminal;
use super::{print, print_json, remark};
use crate::inspection::{Inspected, InspectionSettings};
use gleaner_domain::error::Result;
use gleaner_runs::inspect::json;

/// Show the idle node-time and the idle fragments of an event log.
///
/// Reads any event log that `gleaner replay` reads. The output ends with a suggestion for --t-fwd, the forward window
/// of a replay. The suggestion is derived from the lengths of the idle fragments and the tasks' rescale costs. Rows
/// that change no node are kept if the whole log is inspected. If a slice is inspected, they are dropped, as in a
/// replay. In this help, "the original" is BFTrainer's replayer.
#[derive(Debug, ClapArgs, Serialize)]
#[command(before_help = "Examples:\n  \
    gleaner inspect dataset/idle.csv\n  \
    gleaner inspect dataset/idle.csv --tasks dataset/tasks.toml --json\n  \
    gleaner inspect dataset/idle.csv -o idle.html\n  \
    gleaner inspect ndstat-10sdn6-evt.tar.gz --cache --skip-rows 1000 --nodes 400")]
pub struct Args {
    /// The event log; - for stdin.
    #[arg(value_name = "LOG")]
    log: PathBuf,
    #[command(flatten)]
    #[serde(flatten)]
    settings: InspectionSettings,
    /// Print JSON instead of text. docs/OUTPUTS.md describes it.
    #[arg(long)]
    json: bool,
    /// Write a page or pictures instead of printing the text.
    #[command(flatten)]
    #[serde(skip)]
    drawn: Drawn,
}

/// Runs the subcommand.
///
/// # Errors
/// The usage is wrong, an input is unreadable or invalid, or an output cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let terminal = Terminal::default();
    let inspected = Inspected::of(&args.log, &args.settings, &terminal)?;
    let is_text = args.drawn.is_nothing();
    if !is_text {
        let info = inspected.info(args)?;
        let page = gleaner_report::of_inspection(&inspected.inspection, inspected.costs, &info);
        args.drawn.write(&page, &terminal)?;
        remark(&args.drawn.written());
    }
    if args.json {
        print_json(&json(&inspected.inspection)?)
    } else if is_text {
        print(&inspected.text())
    } else {
        Ok(())
    }
}
