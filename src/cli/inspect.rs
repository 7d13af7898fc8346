//! `gleaner inspect`: what an event log holds.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde::Serialize;

use super::report::Drawn;
use super::terminal::Terminal;
use super::{print, print_json, remark};
use gleaner_core::Observer;
use gleaner_core::domain::Clock;
use gleaner_core::error::{Error, Result};
use gleaner_document::text;
use gleaner_inspect::{Inspection, RescaleCosts};
use gleaner_io::Loaded;
use gleaner_report::Document;
use gleaner_runs::inspect::printed;
use gleaner_runs::inspect::{CostSource, json};
use gleaner_runs::read::RunInfo;
use gleaner_setup::SliceArgs;

/// Show what an event log holds: how much is idle, in what fragments, and when.
///
/// Reads any event log that `gleaner replay` reads. Ends with a suggestion for --t-fwd of a
/// replay, derived from the lengths of the idle fragments and the rescale costs of the tasks.
/// Rows in which no node changes count if the whole log is inspected; they are dropped from a
/// slice, as in a replay.
#[derive(Debug, ClapArgs, Serialize)]
#[command(after_help = "Examples:\n  \
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
    slice: SliceArgs,
    /// Tasks whose rescale costs the suggestion uses [default: 18 s to grow, 12 s to shrink].
    #[arg(long, value_name = "FILE")]
    tasks: Option<PathBuf>,
    /// Scaling curves: the original's second pickle.
    #[arg(long, value_name = "FILE", requires = "tasks")]
    curves: Option<PathBuf>,
    /// Maximum number of tasks active at once, as in a replay.
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    max_tasks: usize,
    /// Print JSON instead of text. docs/OUTPUTS.md describes it.
    #[arg(long)]
    json: bool,
    /// Write the page or pictures; the text is not printed then.
    #[command(flatten)]
    #[serde(skip)]
    drawn: Drawn,
}

/// A remark on hours and weekdays.
const ZONE_UNKNOWN: &str = "the log does not state its time zone: hours and weekdays are those of \
                            its times as they are written (--timezone ZONE names it)";

/// Runs the subcommand.
///
/// # Errors
/// Wrong usage, unreadable or invalid input.
pub fn run(args: &Args) -> Result<()> {
    let inspected = Inspected::of(args, &Terminal::default())?;
    if !args.drawn.is_nothing() {
        args.drawn.write(&inspected.report())?;
        remark(&args.drawn.written());
    }
    match (args.json, args.drawn.is_nothing()) {
        (true, _) => print_json(&json(&inspected.inspection)?),
        (false, true) => print(&inspected.text()),
        (false, false) => Ok(()),
    }
}

/// What a log holds.
pub struct Inspected {
    /// The findings.
    pub inspection: Inspection,
    source: CostSource,
    info: RunInfo,
}

impl Inspected {
    /// Reads and inspects a log.
    ///
    /// # Errors
    /// Wrong usage, unreadable or invalid input.
    pub fn of(args: &Args, observer: &dyn Observer) -> Result<Self> {
        if args.max_tasks == 0 {
            return Err(Error::Usage("--max-tasks is 0, expected at least 1".into()));
        }
        let log = args.slice.read_with_still_rows(&args.log, observer)?;
        let costs = costs(args, log.value.clock(), observer)?;
        if !log.value.clock().is_known() {
            observer.remark(&[ZONE_UNKNOWN.to_owned()]);
        }
        let sources = [log.sources, costs.sources].concat();
        Ok(Inspected {
            inspection: gleaner_inspect::inspect(&log.value, costs.value),
            source: cost_source(args),
            info: RunInfo::of_this("inspect", &args.log, args, &sources)?,
        })
    }

    /// The page about it.
    pub fn report(&self) -> Document {
        gleaner_report::of_inspection(&self.inspection, self.source, &self.info)
    }

    /// The findings as text.
    pub fn text(&self) -> String {
        text(&printed(&self.inspection, self.source))
    }
}

fn cost_source(args: &Args) -> CostSource {
    match args.tasks {
        Some(_) => CostSource::Tasks,
        None => CostSource::Typical,
    }
}

/// The rescale costs, and the files they come from.
fn costs(args: &Args, clock: &Clock, observer: &dyn Observer) -> Result<Loaded<RescaleCosts>> {
    let Some(path) = &args.tasks else {
        return Ok(Loaded {
            value: RescaleCosts::typical(args.max_tasks),
            sources: Vec::new(),
            notes: Vec::new(),
        });
    };
    let tasks = gleaner_inputs::tasks::read_on(path, args.curves.as_deref(), false, clock)?;
    observer.remark(&tasks.notes);
    Ok(Loaded {
        value: RescaleCosts::of(&tasks.value.tasks, tasks.value.at_once(args.max_tasks)),
        sources: tasks.sources,
        notes: Vec::new(),
    })
}
