//! `gleaner harvest submit`: submits tasks.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use gleaner_domain::error::Result;
use gleaner_harvest::client::{Client, submission_id};
use gleaner_harvest::task_file;
use gleaner_harvest::wire::Request;

use super::State;
use crate::cli::{print, remark};

/// Submit the tasks or the search in a file.
///
/// The file is a task file of `gleaner replay` in TOML or JSON, with the fields `command`, `launch` and `environment`
/// for each task. `work` and `curve` are optional. A `[[group]]` limits the total number of nodes of its tasks. If the
/// file has a `[search]`, the trials of the search train the tasks. If a task in the file is invalid, nothing is
/// submitted. When the command returns, the daemon has written the submission to its journal.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Example:\n  \
    gleaner harvest submit tasks.toml --state ~/harvest")]
pub struct Args {
    /// The file with the tasks or the search.
    #[arg(value_name = "FILE")]
    tasks: PathBuf,
    #[command(flatten)]
    state: State,
}

/// Runs the subcommand.
///
/// # Errors
/// The file is invalid, no daemon is running, or the daemon rejects the submission.
pub fn run(args: &Args) -> Result<()> {
    let file = task_file::read(&args.tasks)?;
    remark(&file.notes);
    let request = Request::Submit {
        id: submission_id()?,
        tasks: file.tasks,
        search: file.search,
        groups: file.groups,
    };
    let text = Client::new(&args.state.state)?.done(&request)?;
    print(&format!("{text}\n"))
}
