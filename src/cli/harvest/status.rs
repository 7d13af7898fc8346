//! `gleaner harvest status`: reports the state of the daemon.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::words::counted;
use gleaner_harvest::client::Client;
use gleaner_harvest::daemon;
use gleaner_harvest::page;
use gleaner_harvest::record::{self, Recording};
use gleaner_harvest::status::Status;
use gleaner_harvest::wire::{Request, Response};
use gleaner_io::files;
use gleaner_solvers::Limits;

use super::{State, shown};
use crate::cli::{explained, print, print_json, say};

/// Report nodes, pilots, tasks and harvested node-hours.
#[derive(Debug, ClapArgs)]
#[command(
    before_help = "Examples:\n  \
    gleaner harvest status --state ~/harvest\n  \
    gleaner harvest status --page harvest.html --state ~/harvest",
    after_help = explained(&shown::TERMS)
)]
pub struct Args {
    #[command(flatten)]
    state: State,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
    /// Also write the status page with the current state to a file, which can be viewed without the daemon.
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Also write the recording so far: an event log with tasks and a script for `gleaner replay`, and every batch
    /// that the allocator received, with its decision. The command repeats all decisions with a new allocator, and
    /// fails if one of them differs.
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
}

/// Runs the subcommand.
///
/// # Errors
/// No daemon is running, a file cannot be written, or a repeated decision differs.
pub fn run(args: &Args) -> Result<()> {
    let status = of(&args.state)?;
    if let Some(path) = &args.page {
        files::write_bytes(path, page::still(&status).as_bytes())?;
    }
    if let Some(directory) = &args.record {
        record(&args.state, directory)?;
    }
    if args.json {
        print_json(&json(&status)?)
    } else {
        let url = std::fs::read_to_string(args.state.state.join("page")).unwrap_or_default();
        print(&shown::summary(&status, url.trim()))
    }
}

/// Copies the daemon's recording to a directory, and repeats the recorded decisions.
fn record(state: &State, directory: &Path) -> Result<()> {
    let from = PathBuf::from(Client::new(&state.state)?.done(&Request::Record)?);
    fs::create_dir_all(directory).map_err(|e| Error::io("create", directory, e))?;
    for name in record::FILES {
        let path = from.join(name);
        let bytes = fs::read(&path).map_err(|e| Error::io("read", path, e))?;
        files::write_bytes(&directory.join(name), &bytes)?;
    }
    let recording = Recording::read(directory)?;
    let mut decider = daemon::exact(recording.settings(), Limits::default())?;
    let count = recording.decisions();
    match recording.repeat(&mut decider)? {
        None => {
            say(format!(
                "repeated {}: all match the recording",
                counted(count, "decision")
            ));
            Ok(())
        }
        Some(line) => Err(Error::Run(format!(
            "{}, line {line}: the repeated decision differs",
            directory.join(record::BATCHES).display()
        ))),
    }
}

/// Asks the daemon for its state.
pub(super) fn of(state: &State) -> Result<Status> {
    match Client::new(&state.state)?.request(&Request::Status)? {
        Response::Status(status) => Ok(*status),
        Response::Refused { reason } => Err(Error::Run(reason)),
        Response::Done { .. } => Err(Error::Run(
            "the daemon's answer contains no status".to_owned(),
        )),
    }
}

/// Formats a value as a line of JSON.
pub(super) fn json(value: &impl serde::Serialize) -> Result<String> {
    let json = serde_json::to_string(value);
    let json = json.map_err(|e| Error::Run(format!("cannot write JSON: {e}")))?;
    Ok(format!("{json}\n"))
}
