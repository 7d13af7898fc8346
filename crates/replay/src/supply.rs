//! Where the tasks of a replay come from: a set of tasks, or a search for which they are trials.

use gleaner_core::domain::{Time, TrainingTask};

use super::queue::Queue;
use super::trials::Trials;

/// The tasks that are not active yet.
#[derive(Debug)]
pub(super) enum Supply<'a> {
    /// Those of a set.
    Listed {
        queue: Queue,
        /// Number of tasks of the set, before it is repeated.
        set_size: usize,
    },
    /// Those that a search hands out.
    Search(Box<Trials<'a>>),
}

/// A task that becomes active.
pub(super) enum Next {
    /// The task with this index.
    Listed(u32),
    /// A new one, whose index is the next.
    New(TrainingTask),
}

impl Supply<'_> {
    /// Takes the next task that may become active at `now`.
    pub fn next(&mut self, now: Time) -> Option<Next> {
        match self {
            Supply::Listed { queue, .. } => queue.next(now).map(Next::Listed),
            Supply::Search(trials) => trials.next(now).map(Next::New),
        }
    }

    /// Whether no task will ever come.
    pub fn is_empty(&self) -> bool {
        match self {
            Supply::Listed { queue, .. } => queue.is_empty(),
            Supply::Search(trials) => trials.is_over(),
        }
    }

    /// The task of the set that a task of the replay comes from.
    pub fn origin(&self, task: u32) -> usize {
        match self {
            Supply::Listed { set_size, .. } => task as usize % set_size,
            Supply::Search(trials) => trials.origin(task),
        }
    }
}
