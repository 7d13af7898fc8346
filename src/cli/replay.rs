//! `gleaner replay`: replays an event log to find how much work training could have done on the
//! idle nodes.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde::Serialize;

use super::terminal::Terminal;
use super::{explained, print, print_json};
use crate::replay::{Replay, ReplaySettings};
use gleaner_document::{Block, text};
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_runs::run::RunDir;
use gleaner_runs::{classes, summary};
use gleaner_setup::settings::Settings;

const EXAMPLES: &str = "Examples:\n  \
    gleaner replay --events dataset/idle.csv --tasks dataset/tasks.toml --t-fwd 120 --out run\n  \
    gleaner replay --events ndstat-10sdn6-evt.tar.gz --cache --skip-rows 1000 \\\n      \
        --tasks hps-shufflenet-Jbnd-10J.pkl --curves hps-shufflenet-JNPs-10J.pkl --out run\n  \
    gleaner replay -ndmap summit.gev -bdfn Jbnd.pkl -scfn JNPs.pkl -Tfwd 60 -nN 100 -name mine";

/// Allocate the idle nodes of a log to elastic training tasks.
///
/// At each event the solver reallocates the idle nodes among the active tasks. The solver respects
/// the tasks' bounds, and weighs their scaling curves against their rescale costs over the window
/// --t-fwd. The flags of BFTrainer's replayer (-ndmap -bdfn -scfn -Tfwd -optTL -nis -nN -maxJ -mip
/// -name -print) are also accepted; "the original" is that replayer.
#[derive(Debug, ClapArgs, Serialize)]
#[command(before_help = EXAMPLES, after_long_help = explained(&summary::terms()))]
pub struct Args {
    /// The settings.
    #[command(flatten)]
    #[serde(flatten)]
    pub settings: ReplaySettings,
    /// Directory for run.json, summary.json and the tables as CSV and Parquet.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Print the summary as JSON instead of a table.
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Show no progress bar.
    #[arg(long, help_heading = "Output")]
    quiet: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// The usage is wrong, an input is invalid, or the run fails. An interrupt is also an error; it is reported after the
/// results have been written.
pub fn run(args: &Args) -> Result<()> {
    args.settings.check()?;
    let open = |path| RunDir::open(path, "replay", args);
    let directory = args.out.as_deref().map(open).transpose()?;
    let terminal = Terminal::new(args.quiet);
    let replay = Replay::with(args.settings.clone()).observer(&terminal);
    let mut replayed = match replay.open()?.run() {
        Ok(replayed) => replayed,
        Err(failed) => return Err(failed.keep(directory)),
    };
    terminal.remark(&replayed.faulty_problems(args.out.as_deref()));
    if let Some(directory) = directory {
        terminal.remark(&[replayed.write_to(directory)?]);
    }
    let summary = replayed.summary();
    if args.json {
        print_json(&summary::json(summary)?)?;
    } else {
        let facts = [summary::facts(summary), summary::search(summary)].concat();
        let time = summary::time_taken(replayed.seconds, "replaying");
        let facts = facts.into_iter().chain([time]);
        let meaning = format!("The replay is {}.", replayed.meaning());
        let classes = replayed.outcome.classes.as_ref().map(classes::totals);
        let mut blocks = vec![Block::Facts(facts.collect())];
        blocks.extend(classes.map(Block::Grid));
        blocks.push(Block::Note(meaning));
        print(&text(&blocks))?;
    }
    terminal.remark(&summary.remarks());
    replayed.report_faults(&terminal)?;
    if summary.complete {
        Ok(())
    } else {
        Err(Error::Interrupted)
    }
}
