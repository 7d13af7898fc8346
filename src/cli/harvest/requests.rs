//! The subcommands that send one request: `gleaner harvest cancel`, `drain` and `stop`.

use clap::Args as ClapArgs;
use gleaner_domain::error::Result;
use gleaner_harvest::client::Client;
use gleaner_harvest::wire::Request;

use super::State;
use crate::cli::print;

/// Cancel a task or a search.
///
/// The task is stopped with SIGTERM, and its files remain. If a search is cancelled, so are the tasks of its trials,
/// and no further trial starts.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Example:\n  \
    gleaner harvest cancel resnet --state ~/harvest")]
pub struct Cancel {
    /// Name of the task or search.
    #[arg(value_name = "TASK")]
    task: String,
    #[command(flatten)]
    state: State,
}

/// Request no more pilots and accept no more tasks.
///
/// Tasks continue on the pilots that are running.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner harvest drain --state ~/harvest\n  \
    gleaner harvest drain --off --state ~/harvest")]
pub struct Drain {
    /// End the drain.
    #[arg(long)]
    off: bool,
    #[command(flatten)]
    state: State,
}

/// Stop all tasks, all pilots and the daemon.
///
/// Tasks receive SIGTERM and can write a checkpoint within their grace period. Tasks that have not finished continue
/// when the daemon is started again.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner harvest stop --state ~/harvest\n  \
    gleaner harvest stop --now --state ~/harvest")]
pub struct Stop {
    /// Kill all tasks at once, without time for checkpoints.
    #[arg(long)]
    now: bool,
    #[command(flatten)]
    state: State,
}

impl Cancel {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// No daemon is running, there is no task or search with this name, or it is already over.
    pub fn run(&self) -> Result<()> {
        let task = self.task.clone();
        send(&self.state, &Request::Cancel { task })
    }
}

impl Drain {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// No daemon is running, or the daemon is stopping.
    pub fn run(&self) -> Result<()> {
        let request = if self.off {
            Request::Resume
        } else {
            Request::Drain
        };
        send(&self.state, &request)
    }
}

impl Stop {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// No daemon is running.
    pub fn run(&self) -> Result<()> {
        let at_once = self.now;
        send(&self.state, &Request::Stop { at_once })
    }
}

fn send(state: &State, request: &Request) -> Result<()> {
    let text = Client::new(&state.state)?.done(request)?;
    print(&format!("{text}\n"))
}
