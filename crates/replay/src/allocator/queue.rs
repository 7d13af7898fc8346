//! Tasks that are waiting to become active. Tasks whose submission time has been reached leave the
//! queue in ascending order of index.

use std::collections::BTreeSet;

use gleaner_domain::Utc;

/// The waiting tasks.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Tasks whose submission time is in the future, the latest first.
    future: Vec<(Utc, u32)>,
    /// Indices of the tasks that can become active.
    ready: BTreeSet<u32>,
}

impl Queue {
    /// Adds tasks, each with its submission time.
    pub fn add(&mut self, tasks: impl Iterator<Item = (Utc, u32)>) {
        self.future.extend(tasks);
        self.future.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// Removes and returns the task with the lowest index among the tasks that can become active at
    /// `now`.
    pub fn next(&mut self, now: Utc) -> Option<u32> {
        while let Some((_, task)) = self.future.pop_if(|(submit, _)| *submit <= now) {
            self.ready.insert(task);
        }
        self.ready.pop_first()
    }

    /// Whether no task is waiting.
    pub fn is_empty(&self) -> bool {
        self.future.is_empty() && self.ready.is_empty()
    }
}
