//! `gleaner harvest tasks`: lists the tasks.

use clap::Args as ClapArgs;
use gleaner_domain::error::Result;

use super::{State, shown, status};
use crate::cli::{print, print_json};

/// List all tasks.
///
/// A task that holds fewer nodes than it is given is starting, stopping, or waiting for nodes that another task leaves.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Example:\n  \
    gleaner harvest tasks --state ~/harvest")]
pub struct Args {
    #[command(flatten)]
    state: State,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// No daemon.
pub fn run(args: &Args) -> Result<()> {
    let status = status::of(&args.state)?;
    if args.json {
        print_json(&status::json(&status.tasks)?)
    } else {
        print(&shown::tasks(&status.tasks))
    }
}
