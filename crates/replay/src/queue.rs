//! Tasks waiting to become active: submitted by now, in file order.

use std::collections::BTreeSet;

use gleaner_core::domain::{Time, TrainingTask};

/// The tasks not yet active.
#[derive(Debug)]
pub(super) struct Queue {
    /// Not yet submitted, latest first.
    future: Vec<(Time, u32)>,
    /// Submitted, by file order.
    ready: BTreeSet<u32>,
}

impl Queue {
    /// A queue of these tasks; the index of the first is `first`.
    pub fn new(first: u32, tasks: &[TrainingTask]) -> Self {
        let mut future: Vec<_> = (first..).zip(tasks).map(|(i, t)| (t.submit, i)).collect();
        future.sort_unstable_by(|a, b| b.cmp(a));
        Queue {
            future,
            ready: BTreeSet::new(),
        }
    }

    /// Takes the first task in file order that is submitted by `now`.
    pub fn next(&mut self, now: Time) -> Option<u32> {
        while let Some((_, task)) = self.future.pop_if(|(submit, _)| *submit <= now) {
            self.ready.insert(task);
        }
        self.ready.pop_first()
    }

    /// Whether no task will ever come.
    pub fn is_empty(&self) -> bool {
        self.future.is_empty() && self.ready.is_empty()
    }
}
