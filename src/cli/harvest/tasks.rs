//! `gleaner harvest tasks`: lists the tasks.

use clap::Args as ClapArgs;
use gleaner_domain::error::Result;

use super::{State, shown, status};
use crate::cli::{print, print_json};

/// List all tasks.
///
/// In the column nodes, 2/4 means that a task currently runs on 2 nodes, and is given 4. Such a task is starting,
/// stopping, or waiting until another task has left the nodes.
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
/// No daemon is running.
pub fn run(args: &Args) -> Result<()> {
    let status = status::of(&args.state)?;
    if args.json {
        print_json(&status::json(&status.tasks)?)
    } else {
        print(&shown::tasks(&status.tasks))
    }
}
