//! The queue, by number of GPUs, and a walk over it that skips jobs that cannot start.
//!
//! While sharing is on, Lucid may start any waiting job, not only the first. Whether a job can start
//! depends mostly on its number of GPUs, so jobs with the same number form a class. A class is open as long as its jobs
//! may fit on free GPUs, or some of them have not been compared with all possible partners. For example, suppose that
//! the jobs of a class have been compared with 7 partners (`met`), and 9 partners have appeared so far. Two partners
//! are new, so the class is open. The walk visits the jobs of all open classes in order of priority.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};

use super::Priority;

type Key = (Priority, usize);

/// Waiting jobs by number of GPUs, then by priority, then by submission.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    classes: BTreeMap<u32, Class>,
}

#[derive(Debug, Default)]
struct Class {
    jobs: BTreeSet<Key>,
    /// Whether a job has been added since the last walk.
    new: bool,
    /// All jobs of the class, except new ones, have been compared with the first `met` possible partners, in the order
    /// in which the partners appeared.
    met: usize,
}

impl Waiting {
    pub fn insert(&mut self, priority: Priority, job: usize, gpus: u32) {
        let class = self.classes.entry(gpus).or_default();
        class.jobs.insert((priority, job));
        class.new = true;
    }

    pub fn remove(&mut self, priority: Priority, job: usize, gpus: u32) {
        if let Some(class) = self.classes.get_mut(&gpus) {
            class.jobs.remove(&(priority, job));
            if class.jobs.is_empty() {
                self.classes.remove(&gpus);
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// The first waiting job by priority, and its number of GPUs.
    pub fn first(&self) -> Option<(usize, u32)> {
        let heads = self
            .classes
            .iter()
            .filter_map(|(&gpus, class)| Some((*class.jobs.first()?, gpus)));
        heads.min().map(|((_, job), gpus)| (job, gpus))
    }
}

/// A walk over the waiting jobs that may be able to start, in order of priority.
#[derive(Debug)]
pub(super) struct Pass {
    walks: Vec<Walk>,
    /// The class of the job visited last.
    current: usize,
}

#[derive(Debug)]
struct Walk {
    gpus: u32,
    last: Option<Key>,
    /// Whether the free GPUs may be enough for a job of the class.
    may_fit: bool,
    /// Whether a job that has not been visited yet may find a partner.
    may_share: bool,
    /// Number of possible partners that had appeared before the walk.
    appeared: usize,
}

impl Pass {
    /// Begins a walk. `fits` returns whether a job with the given number of GPUs can be placed. `appeared` returns how
    /// many possible partners with the given number of GPUs have appeared.
    pub fn begin(
        waiting: &mut Waiting,
        fits: impl Fn(u32) -> bool,
        appeared: impl Fn(u32) -> usize,
    ) -> Self {
        let walks = waiting.classes.iter_mut().filter_map(|(&gpus, class)| {
            let appeared = appeared(gpus);
            let walk = Walk {
                gpus,
                last: None,
                may_fit: fits(gpus),
                may_share: class.new || class.met < appeared,
                appeared,
            };
            // By the end of the walk, all jobs will have been compared with these partners.
            class.new = false;
            class.met = appeared;
            walk.is_open().then_some(walk)
        });
        Pass {
            walks: walks.collect(),
            current: 0,
        }
    }

    /// The next job and its number of GPUs; `None` at the end of the walk.
    pub fn next(&mut self, waiting: &Waiting) -> Option<(usize, u32)> {
        let heads = self.walks.iter().enumerate().filter_map(|(index, walk)| {
            let jobs = &waiting.classes.get(&walk.gpus)?.jobs;
            let from = walk.last.map_or(Unbounded, Excluded);
            Some((*jobs.range((from, Unbounded)).next()?, index))
        });
        let (key, index) = heads.min()?;
        let walk = &mut self.walks[index];
        walk.last = Some(key);
        self.current = index;
        Some((key.1, walk.gpus))
    }

    /// Whether a job with `gpus` GPUs may still be placed.
    pub fn may_fit(&self, gpus: u32) -> bool {
        let walk = self.walks.iter().find(|walk| walk.gpus == gpus);
        walk.is_some_and(|walk| walk.may_fit)
    }

    /// Records that a job with `gpus` GPUs could not start, so no other job of this size will fit in
    /// this walk.
    pub fn refuse(&mut self, gpus: u32, appeared: usize) {
        if let Some(walk) = self.walks.iter_mut().find(|walk| walk.gpus == gpus) {
            walk.may_fit = false;
            // Partners that appear during the walk are compared with the jobs that the walk has not
            // visited yet.
            walk.may_share |= walk.appeared < appeared;
        }
        self.walks.retain(Walk::is_open);
    }
}

impl Walk {
    fn is_open(&self) -> bool {
        self.may_fit || self.may_share
    }
}
