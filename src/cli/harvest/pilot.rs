//! `gleaner harvest pilot`: holds a node.

use clap::Args as ClapArgs;
use gleaner_domain::error::Result;
use gleaner_harvest::pilot::{self, PilotArgs};

use super::State;

/// Hold a node for a daemon, and start tasks on it.
///
/// The daemon's backend starts this command, so users need it only for other batch systems. The pilot stops its tasks
/// and exits when it receives SIGTERM, shortly before its wall time ends, or shortly before its lease expires without
/// an answer from the daemon.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Example:\n  \
    gleaner harvest pilot --pilot 1 --wall 5400 --state ~/harvest")]
pub struct Args {
    #[command(flatten)]
    state: State,
    /// Number of the pilot.
    #[arg(long, value_name = "NUMBER")]
    pilot: u64,
    /// Name of the node [default: SLURMD_NODENAME, or the host's name].
    #[arg(long, value_name = "NAME")]
    node: Option<String>,
    /// Class of the node [default: the output of the command `class` in harvest.toml, or GLEANER_CLASS].
    #[arg(long, value_name = "NAME")]
    class: Option<String>,
    /// Wall time in seconds [default: the end of the Slurm job, or unlimited].
    #[arg(long, value_name = "SECONDS")]
    wall: Option<u64>,
}

/// Runs the subcommand.
///
/// # Errors
/// The state directory cannot be used, or the daemon does not answer.
pub fn run(args: &Args) -> Result<()> {
    pilot::run(&PilotArgs {
        state: args.state.state.clone(),
        pilot: args.pilot,
        node: args.node.clone(),
        class: args.class.clone(),
        wall_s: args.wall,
    })
}
