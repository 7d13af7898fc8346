//! `gleaner convert`: converts an event log to another format.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use gleaner_domain::error::Result;
use gleaner_domain::words::counted;
use gleaner_inputs::write::events;
use gleaner_inputs::write::events::{Format, Layout};
use gleaner_logs::zone::Zone;

/// Convert an event log to CSV, Parquet or the fast cache .gev.
///
/// Reads pandas pickles (as data, never executed; also in .gz and .tar.gz), wide or long CSV and
/// Parquet, and .gev. The extension of the output's name determines its format.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner convert ndstat-10sdn6-evt.tar.gz -o summit.gev\n  \
    gleaner convert summit.gev -o summit.parquet\n  \
    gleaner convert idle.csv -o idle-wide.csv --layout wide")]
pub struct Args {
    /// The event log to read; - for stdin.
    #[arg(value_name = "LOG")]
    input: PathBuf,
    /// The file to write: a name ending in .csv, .parquet or .gev.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Layout of a table, in CSV and Parquet.
    #[arg(long, value_enum, value_name = "NAME", default_value_t = TableLayout::Long)]
    layout: TableLayout,
    /// Time zone of the log, such as America/Chicago or +01:00 [default: the zone that the log states].
    /// Local times of the log are interpreted in this zone; times with an offset from UTC are converted to it.
    #[arg(long, value_name = "ZONE")]
    timezone: Option<String>,
}

/// Layouts of a table of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TableLayout {
    /// One row for every change, with the columns time, node and state.
    Long,
    /// One row for every event, with a column for every node.
    Wide,
}

/// Warning that wide CSV cannot store the classes of the log's nodes.
const WITHOUT_CLASSES: &str = "wide CSV cannot store the classes of the nodes: they are left out (use the long \
                               layout, .parquet or .gev)";

/// Runs the subcommand.
///
/// # Errors
/// The input is unreadable or invalid, or the output cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let layout = match args.layout {
        TableLayout::Long => Layout::Long,
        TableLayout::Wide => Layout::Wide,
    };
    let format = Format::of(&args.output)?;
    let zone = args.timezone.as_deref().map(Zone::of_flag).transpose()?;
    let log = gleaner_inputs::events::read_in(&args.input, zone.as_ref())?;
    super::remark(&log.notes);
    events::write(&log.value, &args.output, layout, log.sources.first())?;
    if log.value.classes().is_some() && format == Format::Csv && layout == Layout::Wide {
        super::remark(&[WITHOUT_CLASSES.to_owned()]);
    }
    super::remark(&format.losses(log.value.quality(), log.value.has_queue()));
    super::remark(&[format!(
        "wrote {}: {}, {}, {}",
        args.output.display(),
        counted(log.value.len(), "event"),
        counted(log.value.nodes().len(), "node"),
        counted(log.value.change_count(), "change")
    )]);
    Ok(())
}
