//! The sources of tasks: batches, a set that is submitted in rounds, or a search.

use std::sync::Arc;

use gleaner_domain::error::Result;
use gleaner_domain::{TrainingTask, TrialSearch, Utc};

use super::batch::Extension;
use super::queue::Queue;
use super::registry::Registry;
use super::rounds::Rounds;
use super::trials::{Declared, Searcher, Trials};

/// The source of the tasks that batches do not submit.
pub enum Source<'a> {
    /// No other source: batches submit all tasks.
    Batches,
    /// A set that is submitted in rounds. The next round begins when there is room for its first task. The
    /// set must pass [`check_repeatable`](super::rounds::check_repeatable).
    Rounds(&'a [TrainingTask]),
    /// A search, whose trials train the tasks of a set.
    Search {
        /// The search to run.
        search: &'a Arc<TrialSearch>,
        /// The tasks that the trials of the search train.
        set: &'a [TrainingTask],
        /// Seed of the random losses, and of the random choice of tasks for trials.
        seed: u64,
    },
    /// A custom search.
    Searcher {
        /// The implementation of the search.
        searcher: Box<dyn Searcher + 'a>,
        /// The tasks that the trials of the search train.
        set: &'a [TrainingTask],
    },
}

/// All tasks that can still become active: those in the queue, and those of the source.
pub(super) struct Supply<'a> {
    queue: Queue,
    more: More<'a>,
}

/// The state of the source.
enum More<'a> {
    Nothing,
    Rounds(Rounds<'a>),
    Search(Box<Trials<'a>>),
}

impl<'a> Supply<'a> {
    /// Creates the supply of an allocator that starts at `start`, and queues the first round of a repeated set.
    ///
    /// # Errors
    /// The plan of the search is invalid.
    pub fn new(source: Source<'a>, registry: &mut Registry, start: Utc) -> Result<Self> {
        let mut supply = Supply {
            queue: Queue::default(),
            more: More::Nothing,
        };
        supply.more = match source {
            Source::Batches => More::Nothing,
            Source::Rounds(set) => {
                supply.submit(set.iter().map(|task| (task.clone(), task)), registry, start);
                More::Rounds(Rounds::new(set, start))
            }
            Source::Search { search, set, seed } => {
                let searcher = Box::new(Declared::begin(search, seed)?);
                More::Search(Box::new(Trials::begin(searcher, set, start)))
            }
            Source::Searcher { searcher, set } => {
                More::Search(Box::new(Trials::begin(searcher, set, start)))
            }
        };
        Ok(supply)
    }

    /// Queues new tasks, each paired with the task whose groups it joins.
    pub fn submit<'t>(
        &mut self,
        tasks: impl Iterator<Item = (TrainingTask, &'t TrainingTask)>,
        registry: &mut Registry,
        now: Utc,
    ) {
        self.queue.add(tasks.map(|(task, origin)| {
            let submit = task.submit;
            (submit, registry.add(task, origin, now))
        }));
    }

    /// Queues a task that the registry already knows.
    pub fn wait(&mut self, task: u32, submit: Utc) {
        self.queue.add([(submit, task)].into_iter());
    }

    /// Takes the next task that can become active at `now`: from the queue or, if no task in the queue is ready, from
    /// the search.
    pub fn next(&mut self, registry: &mut Registry, now: Utc) -> Option<u32> {
        if let Some(task) = self.queue.next(now) {
            return Some(task);
        }
        let More::Search(trials) = &mut self.more else {
            return None;
        };
        let (task, origin) = trials.next(registry.count(), now)?;
        Some(registry.add(task, origin, now))
    }

    /// Begins the next round of the set if no task is waiting and a place is free. The number of places is `max_tasks`
    /// or the size of the set, whichever is smaller. Once the tasks of a new round have been admitted, therefore,
    /// either all places are taken, or all tasks in the queue have later submission times. Returns whether a round
    /// began.
    pub fn repeat(
        &mut self,
        registry: &mut Registry,
        active: usize,
        max_tasks: usize,
        now: Utc,
    ) -> bool {
        let More::Rounds(rounds) = &mut self.more else {
            return false;
        };
        let set = rounds.set();
        let is_full = active >= max_tasks.min(set.len());
        if is_full || !self.queue.is_empty() {
            return false;
        }
        let Some(tasks) = rounds.next(now) else {
            return false;
        };
        self.submit(tasks.into_iter().zip(set), registry, now);
        true
    }

    /// Reports a finished task to the search, if there is one. If its trial continues training immediately, returns the
    /// additional work of the task.
    pub fn finish(&mut self, task: u32, now: Utc) -> Option<Extension> {
        match &mut self.more {
            More::Search(trials) => trials.finish(task, now),
            More::Nothing | More::Rounds(_) => None,
        }
    }

    /// Whether no task is waiting and no search has further jobs. Later rounds of a repeated set are not counted,
    /// because each begins in the batch that makes room for it. If there is room after a batch and no round began, the
    /// next round would exceed the limit on tasks.
    pub fn is_empty(&self) -> bool {
        let is_over = match &self.more {
            More::Search(trials) => trials.is_over(),
            More::Nothing | More::Rounds(_) => true,
        };
        self.queue.is_empty() && is_over
    }

    /// Number of rounds so far; `None` if no set is repeated.
    pub fn rounds(&self) -> Option<usize> {
        match &self.more {
            More::Rounds(rounds) => Some(rounds.count),
            More::Nothing | More::Search(_) => None,
        }
    }

    /// Name of the search; `None` if the source is not a search.
    pub fn search_name(&self) -> Option<String> {
        match &self.more {
            More::Search(trials) => Some(trials.name()),
            More::Nothing | More::Rounds(_) => None,
        }
    }

    /// The search; `None` if the source is not a search.
    pub fn into_search(self) -> Option<Trials<'a>> {
        match self.more {
            More::Search(trials) => Some(*trials),
            More::Nothing | More::Rounds(_) => None,
        }
    }
}
