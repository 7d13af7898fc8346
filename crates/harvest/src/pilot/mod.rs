//! A pilot: the process that holds an idle node. It starts the ranks of tasks on its node when the daemon orders it to,
//! and gives the node back when the batch scheduler asks for it.
//!
//! A pilot ends when one of the following happens. In each case, it first ends its ranks: with SIGTERM, and with
//! SIGKILL after the grace period. Unless the daemon dismissed it, the pilot also tries to notify the daemon.
//!
//! - It receives SIGTERM, SIGINT or SIGHUP.
//! - The daemon dismisses it.
//! - Its wall time expires. The grace period ends together with the wall time.
//! - Its lease expires: the daemon has not answered a beat for too long, and may soon assign other nodes to the pilot's
//!   tasks. The grace period ends together with the lease.

mod class;
mod connection;
mod folder;
mod intake;
mod lease;
mod output;
mod progress;
mod rank;
mod ranks;
mod service;
#[cfg(test)]
mod tests;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use gleaner_domain::Utc;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::words::printable;

pub(crate) use folder::is_host_name;

use crate::core::{PilotId, RunId};
use crate::state_dir::StateDir;
use crate::wire::ToPilot;

/// Arguments of a pilot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PilotArgs {
    /// The daemon's state directory.
    pub state: PathBuf,
    /// Number of the pilot.
    pub pilot: u64,
    /// Name of the node; default: `SLURMD_NODENAME`, otherwise the host's name.
    pub node: Option<String>,
    /// Class of the node; default: the output of the daemon's `class` program, otherwise `GLEANER_CLASS`.
    pub class: Option<String>,
    /// Wall time in seconds, which ends with the Slurm job at the latest; default: until the end of the Slurm job, or
    /// unlimited if no end is known.
    pub wall_s: Option<u64>,
}

/// An event in the pilot's main loop.
#[derive(Debug)]
enum Happening {
    /// An attempt to connect has succeeded or failed.
    Connected(Box<Result<connection::Access>>),
    /// The daemon has sent a message.
    Message {
        /// Number of the connection.
        session: u32,
        message: ToPilot,
    },
    /// A connection is lost.
    Lost {
        /// Number of the connection.
        session: u32,
        reason: String,
    },
    /// A rank has ended.
    Exited {
        /// The run to which the rank belongs.
        run: RunId,
        code: Option<i32>,
    },
}

/// Runs a pilot until it ends. The pilot handles SIGTERM, SIGINT and SIGHUP, so the caller must not.
///
/// # Errors
/// The state directory cannot be used, the node's name is invalid, or a pilot with this number has been started before.
/// It is also an error if the lease expires because the daemon does not answer.
pub fn run(args: &PilotArgs) -> Result<()> {
    let state = Arc::new(StateDir::open(&args.state)?);
    let node = node(args)?;
    state.begin_pilot(args.pilot)?;
    folder::remove_leftovers();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::Run(format!("cannot start the pilot: {error}")))?;
    let ended = runtime.block_on(async {
        let class = class::find(args.class.as_deref(), &state).await;
        let place = (node, class);
        let pilot = service::Pilot::new(state, PilotId(args.pilot), place, args.wall_s)?;
        pilot.serve().await
    });
    // A thread may still be waiting for a file system that does not answer.
    runtime.shutdown_background();
    ended
}

/// Name of the pilot's node.
fn node(args: &PilotArgs) -> Result<String> {
    let slurm = || std::env::var("SLURMD_NODENAME").ok();
    let host = || fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = args.node.clone().or_else(slurm).or_else(host);
    let name = name.unwrap_or_default().trim().to_owned();
    if folder::is_host_name(&name) {
        Ok(name)
    } else {
        Err(Error::Usage(format!(
            "found {name:?} as the name of the node, expected a host name; set the name with --node"
        )))
    }
}

/// Writes a line to the pilot's log, which is its standard error.
fn say(text: &str) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let second = since.map_or(0, |since| since.as_secs() as i64);
    let time = Utc::from_seconds(second).at_offset(0);
    // The pilot continues even if its log cannot be written.
    let _ = writeln!(std::io::stderr(), "{time}Z {}", printable(text));
}
