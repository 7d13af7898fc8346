//! `gleaner harvest`: trains elastic tasks on the idle nodes of a live cluster.

mod check;
mod pilot;
mod requests;
mod serve;
mod shown;
mod status;
mod submit;
mod tasks;

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use gleaner_domain::error::Result;

/// Train elastic tasks on the idle nodes of a cluster.
///
/// A daemon (`serve`) starts pilot jobs, each of which holds one idle node until the batch scheduler takes the node
/// back. The daemon uses the allocator of `gleaner replay` to give these nodes to the submitted tasks. The other
/// commands talk to the daemon. All of them share the state directory.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner harvest serve --config harvest.toml --state ~/harvest --dry-run\n  \
    gleaner harvest serve --config harvest.toml --state ~/harvest\n  \
    gleaner harvest submit tasks.toml --state ~/harvest\n  \
    gleaner harvest status --state ~/harvest\n  \
    gleaner harvest stop --state ~/harvest")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Serve(serve::Args),
    Submit(submit::Args),
    Status(status::Args),
    Tasks(tasks::Args),
    Cancel(requests::Cancel),
    Drain(requests::Drain),
    Stop(requests::Stop),
    Check(check::Args),
    Pilot(pilot::Args),
}

/// The state directory of the daemon.
#[derive(Debug, ClapArgs)]
struct State {
    /// State directory of the daemon. Pilots must be able to read it on their nodes.
    #[arg(long = "state", value_name = "DIR")]
    state: PathBuf,
}

impl Args {
    /// Whether the subcommand handles signals itself.
    pub fn handles_signals(&self) -> bool {
        matches!(self.what, What::Serve(_) | What::Pilot(_))
    }
}

/// Runs the subcommand.
///
/// # Errors
/// The subcommand fails.
pub fn run(args: &Args) -> Result<()> {
    match &args.what {
        What::Serve(args) => serve::run(args),
        What::Submit(args) => submit::run(args),
        What::Status(args) => status::run(args),
        What::Tasks(args) => tasks::run(args),
        What::Cancel(args) => args.run(),
        What::Drain(args) => args.run(),
        What::Stop(args) => args.run(),
        What::Check(args) => check::run(args),
        What::Pilot(args) => pilot::run(args),
    }
}
