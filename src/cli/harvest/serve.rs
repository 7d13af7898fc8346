//! `gleaner harvest serve`: runs the daemon.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args as ClapArgs;
use gleaner_domain::Utc;
use gleaner_domain::error::Result;
use gleaner_harvest::config::Config;
use gleaner_harvest::daemon::{self, Log};

use super::State;
use crate::cli::{print, say};

/// Run the daemon.
///
/// The daemon logs to stderr. It exits on SIGTERM or Ctrl-C, but tasks keep running until their pilots' leases expire.
/// A daemon that starts before then takes over the tasks. `gleaner harvest stop` also ends tasks and pilots.
/// docs/HARVEST.md describes the settings.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner harvest serve --config harvest.toml --state ~/harvest --dry-run\n  \
    gleaner harvest serve --config harvest.toml --state ~/harvest")]
pub struct Args {
    /// Settings of the daemon, as TOML.
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    #[command(flatten)]
    state: State,
    /// Print what the daemon would start, without starting it.
    #[arg(long)]
    dry_run: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// The settings are invalid, or the daemon fails.
pub fn run(args: &Args) -> Result<()> {
    let config = Config::read(&args.config)?;
    let log: Log = Arc::new(log);
    if args.dry_run {
        return print(&daemon::dry_run(&config, &args.state.state, &log)?);
    }
    daemon::serve(&config, &args.state.state, &log)
}

/// Prints a log line with the time of day in UTC.
fn log(line: &str) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let second = since.map_or(0, |since| since.as_secs() as i64);
    say(format_args!(
        "{}Z {line}",
        Utc::from_seconds(second).at_offset(0)
    ));
}
