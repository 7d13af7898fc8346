//! The source of a replay's tasks: a search, or the task file, whose tasks may be submitted in rounds.

use std::collections::BTreeSet;

use super::Inputs;
use crate::search::Trials;
use gleaner_domain::results::search::SearchOutcome;
use gleaner_domain::tasks::MAX_TASKS;
use gleaner_domain::{TrainingTask, Utc};

/// A task that must appear in the replay, derived from the inputs.
#[derive(Debug, Clone)]
pub(super) struct Known {
    /// Index, in the task file, of the entry from which the task was derived.
    pub origin: u32,
    pub name: String,
    pub submit: Utc,
    pub deadline: Option<Utc>,
    pub work: f64,
}

/// The source of tasks that have not yet become active.
pub(super) enum Supply<'a> {
    Listed(Listed<'a>),
    Search(Box<Trials<'a>>),
}

/// The tasks of a file, submitted in rounds.
pub(super) struct Listed<'a> {
    set: &'a [TrainingTask],
    start: Utc,
    /// Submission time of the first task in the first round.
    first: Utc,
    /// Number of rounds that have begun so far.
    pub rounds: usize,
    /// Tasks that have not been submitted, latest first.
    future: Vec<(Utc, u32)>,
    /// Submitted tasks that have not yet become active.
    waiting: BTreeSet<u32>,
}

impl<'a> Supply<'a> {
    /// Creates the task source of a replay that starts at `start`.
    pub fn new(inputs: &Inputs<'a>, written: Option<&'a SearchOutcome>, start: Utc) -> Self {
        match inputs.search {
            Some(search) => {
                let trials = Trials::new(search, inputs.set, inputs.seed, written);
                Supply::Search(Box::new(trials))
            }
            None => Supply::Listed(Listed::new(inputs.set, start)),
        }
    }

    /// Whether the current round or the search has no more tasks.
    pub fn is_empty(&self) -> bool {
        match self {
            Supply::Listed(listed) => listed.future.is_empty() && listed.waiting.is_empty(),
            Supply::Search(trials) => trials.is_over(),
        }
    }
}

impl<'a> Listed<'a> {
    fn new(set: &'a [TrainingTask], start: Utc) -> Self {
        let submissions = set.iter().map(|task| task.submit.max(start));
        Listed {
            set,
            start,
            first: submissions.min().unwrap_or(start),
            rounds: 0,
            future: Vec::new(),
            waiting: BTreeSet::new(),
        }
    }

    /// Begins the next round at `now` and returns its tasks, whose indices in the replay start at
    /// `next`. Returns `None` if there would be too many tasks.
    pub fn round(&mut self, now: Utc, next: u32) -> Option<Vec<Known>> {
        if (self.rounds + 1) * self.set.len() > MAX_TASKS && self.rounds > 0 {
            return None;
        }
        self.rounds += 1;
        let tasks: Vec<Known> = (0..self.set.len())
            .map(|task| self.known(task, now))
            .collect();
        self.future
            .extend(tasks.iter().map(|task| task.submit).zip(next..));
        self.future.sort_unstable_by(|a, b| b.cmp(a));
        Some(tasks)
    }

    fn known(&self, place: usize, now: Utc) -> Known {
        let task = &self.set[place];
        let is_first = self.rounds == 1;
        let later = |time: Utc| {
            let after = time.max(self.start).0.saturating_sub(self.first.0);
            Utc(now.0.saturating_add(after))
        };
        Known {
            origin: place as u32,
            name: if is_first {
                task.name.clone()
            } else {
                format!("{}#{}", task.name, self.rounds)
            },
            submit: if is_first {
                task.submit.max(self.start)
            } else {
                later(task.submit)
            },
            deadline: if is_first {
                task.deadline
            } else {
                task.deadline.map(later)
            },
            work: task.work,
        }
    }

    /// The next task, in the order of the file, that has been submitted by `now`.
    pub fn next(&mut self, now: Utc) -> Option<u32> {
        while let Some((_, task)) = self.future.pop_if(|(submit, _)| *submit <= now) {
            self.waiting.insert(task);
        }
        self.waiting.pop_first()
    }
}
