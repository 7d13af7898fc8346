//! Population-based training (Jaderberg et al., "Population Based Training of Neural Networks", 2017,
//! arXiv:1711.09846), with truncation selection.
//!
//! A fixed number of trials, the population, train at the same time. Their losses are measured at equal intervals. At a
//! measurement, a trial in the worst fifth of the population is replaced. A trial in the best fifth is drawn at random.
//! A copy of this trial, with changed hyperparameters, trains in place of the replaced trial (exploit and explore). All
//! other trials continue training immediately.
//!
//! Example: the last losses of ten trials are 1, 2, …, 10. A trial with the loss 9 or 10 is replaced by a copy of the
//! trial with the loss 1 or 2. If the copied trial has consumed 6 epochs, then the copy continues from 6 epochs.
//!
//! In the paper, a member of the population keeps its identity when it is replaced. Here, the copy is a new trial with a
//! number of its own, so that each trial has one set of hyperparameters. A trial is copied only if it has trained at
//! least as long as the trial that the copy replaces. Every copy therefore has at most as much training left as the
//! replaced trial had, so the search ends.

use std::collections::{BTreeMap, VecDeque};

use rand::RngExt;

use crate::random::{Purpose, stream};
use crate::score::Score;
use crate::{Job, Parameters, Parent, Scheduler, Space, Verdict};

/// The worst 1/5 of the population is replaced by copies of trials in the best 1/5.
const FRACTION: usize = 5;

/// The state of population-based training.
#[derive(Debug)]
pub(crate) struct Pbt {
    /// The resources of the rungs, ascending.
    resources: Vec<f64>,
    population: u32,
    seed: u64,
    space: Space,
    /// Number of trials that were started, including copies.
    started: u32,
    /// The trials of the population that were measured and have not finished, with their last losses and their rungs.
    members: BTreeMap<u32, (Score, u32)>,
    /// The next jobs of trials that were not replaced, by trial.
    ready: BTreeMap<u32, Job>,
    /// Copies that have not started.
    copies: VecDeque<Copy>,
    /// The trials that are copies, each with its parent and its hyperparameters.
    origins: BTreeMap<u32, (Parent, Parameters)>,
}

/// A copy of a trial that was measured at a rung.
#[derive(Debug)]
struct Copy {
    of: u32,
    rung: u32,
}

impl Pbt {
    /// Creates a population of `population` trials on rungs with these resources.
    pub(crate) fn new(resources: Vec<f64>, population: u32, seed: u64, space: Space) -> Self {
        Pbt {
            resources,
            population,
            seed,
            space,
            started: 0,
            members: BTreeMap::new(),
            ready: BTreeMap::new(),
            copies: VecDeque::new(),
            origins: BTreeMap::new(),
        }
    }

    /// Draws the copy that replaces the trial `trial` at a rung; `None` if `trial` is not replaced.
    fn replacement(&self, trial: u32, rung: u32) -> Option<Copy> {
        let mut ranked: Vec<(Score, u32)> = self.members.values().copied().collect();
        ranked.sort_unstable();
        let count = ranked.len() / FRACTION;
        let worst = &ranked[ranked.len() - count..];
        if worst.iter().all(|(score, _)| score.trial != trial) {
            return None;
        }
        let best = ranked[..count]
            .iter()
            .filter(|(_, reached)| *reached >= rung);
        let best: Vec<&(Score, u32)> = best.collect();
        let mut random = stream(self.seed, Purpose::Exploit, u64::from(rung), trial);
        let drawn = (random.random::<f64>() * best.len() as f64) as usize;
        best.get(drawn).map(|(score, reached)| Copy {
            of: score.trial,
            rung: *reached,
        })
    }

    /// The hyperparameters of a trial, whether or not it is a copy.
    fn own_parameters(&self, trial: u32) -> Parameters {
        match self.origins.get(&trial) {
            Some((_, parameters)) => parameters.clone(),
            None => self.space.draw(self.seed, trial),
        }
    }

    /// Starts a copy, as a trial of its own.
    fn start(&mut self, copy: &Copy) -> Option<Job> {
        let trial = self.started;
        let job = Job::towards(&self.resources, trial, copy.rung as usize + 1)?;
        self.started += 1;
        let parent = Parent {
            trial: copy.of,
            resource: job.from,
        };
        let parameters = self
            .space
            .explore(&self.own_parameters(copy.of), self.seed, trial);
        self.origins.insert(trial, (parent, parameters));
        Some(job)
    }
}

impl Scheduler for Pbt {
    fn next_job(&mut self) -> Option<Job> {
        if let Some((_, job)) = self.ready.pop_first() {
            return Some(job);
        }
        if let Some(copy) = self.copies.pop_front() {
            return self.start(&copy);
        }
        // Copies have trial numbers of their own, but do not count towards `population`.
        if self.started - self.origins.len() as u32 >= self.population {
            return None;
        }
        let trial = self.started;
        self.started += 1;
        Job::towards(&self.resources, trial, 0)
    }

    fn report(&mut self, job: &Job, loss: f64) -> Vec<Verdict> {
        let (trial, rung) = (job.trial, job.rung);
        let Some(next) = Job::towards(&self.resources, trial, rung as usize + 1) else {
            self.members.remove(&trial);
            return vec![Verdict::Finished { trial }];
        };
        self.members.insert(trial, (Score::new(trial, loss), rung));
        if let Some(copy) = self.replacement(trial, rung) {
            self.members.remove(&trial);
            self.copies.push_back(copy);
            return vec![Verdict::Stopped { trial }];
        }
        self.ready.insert(trial, next);
        let (rung, to) = (next.rung, next.to);
        vec![Verdict::Promoted { trial, rung, to }]
    }

    fn resume(&mut self, trial: u32) -> Option<Job> {
        self.ready.remove(&trial)
    }

    fn parameters(&self, trial: u32) -> Option<Parameters> {
        Some(self.own_parameters(trial))
    }

    fn parent(&self, trial: u32) -> Option<Parent> {
        self.origins.get(&trial).map(|(parent, _)| *parent)
    }
}
