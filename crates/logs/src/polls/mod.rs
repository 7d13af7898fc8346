//! Polls of the states of nodes, such as repeated calls of Slurm's `sinfo`.
//!
//! A poll states what each node did at one time. Two forms are read: the recommended one, with a
//! line `EPOCH STATE HOSTLIST` for every state, and that of HPC-Whisk's monitor. The first line
//! shows which. [`each_poll`] passes the polls on as they are.

mod reader;
mod recommended;
mod states;
mod whisk;

pub use reader::Poll;
pub use states::StateClass;

use crate::scheduler::{Input, Log, LogCounts, NodeSet, SchedulerClock};
use gleaner_domain::error::Result;
use reader::{Each, PollReader};

/// What [`each_poll`] has read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PollNames {
    /// Names of the nodes, by the index that polls use.
    pub names: Vec<String>,
    /// What was read, and what was wrong with it.
    pub counts: LogCounts,
}

/// Calls `each` with every poll of the inputs, which are in order of time. Invalid lines are
/// counted and left out.
///
/// ```
/// use std::path::Path;
///
/// use gleaner_io::input::Input;
/// use gleaner_logs::polls::{StateClass, each_poll};
///
/// let log = "1795453200 idle m[1-3]\n1795453200 mixed m4\n1795453215 idle m1\n";
/// let mut idle = Vec::new();
/// let input = Input::new(Path::new("sinfo.log"), log.as_bytes());
/// let read = each_poll([input], |poll| {
///     let classes = poll.nodes.iter().map(|(_, class)| *class);
///     idle.push(classes.filter(|class| *class == StateClass::Idle).count());
///     Ok(())
/// })?;
/// assert_eq!(idle, [3, 1]);
/// assert_eq!(read.names, ["m1", "m2", "m3", "m4"]);
/// # Ok::<(), gleaner_domain::Error>(())
/// ```
///
/// # Errors
/// An input cannot be opened or read, or `each` fails.
pub fn each_poll<'a>(
    inputs: impl IntoIterator<Item = Result<Input<'a>>>,
    mut each: impl FnMut(&Poll<'_>) -> Result<()>,
) -> Result<PollNames> {
    let mut log = Log::new(SchedulerClock::default(), false);
    let nodes = read_polls(inputs, NodeSet::default(), &mut log, &mut |poll, _| {
        each(poll)
    })?;
    Ok(PollNames {
        names: nodes.names(),
        counts: log.counts,
    })
}

/// Passes the polls of all inputs to `each`, and returns the nodes that they name.
fn read_polls<'a>(
    inputs: impl IntoIterator<Item = Result<Input<'a>>>,
    nodes: NodeSet,
    log: &mut Log,
    each: &mut Each<'_>,
) -> Result<NodeSet> {
    let mut reader = PollReader::new(nodes);
    for input in inputs {
        reader.file(&mut input?, log, each)?;
    }
    reader.finish(log, each)
}
