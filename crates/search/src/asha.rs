//! Asynchronous successive halving (Li et al. 2020, Algorithm 2).

use std::collections::BTreeSet;

use crate::score::Score;
use crate::{Job, Scheduler, Verdict};

/// The state of ASHA.
#[derive(Debug, Clone)]
pub(crate) struct Asha {
    resources: Vec<f64>,
    /// All rungs except the last rung, from which no trial is promoted.
    rungs: Vec<Standing>,
    trials: u32,
    started: u32,
}

impl Asha {
    /// Creates a search of `trials` trials on rungs with these resources.
    pub(crate) fn new(resources: Vec<f64>, eta: u32, trials: u32) -> Self {
        let below = resources.len().saturating_sub(1);
        Asha {
            rungs: vec![Standing::new(eta); below],
            resources,
            trials,
            started: 0,
        }
    }
}

impl Scheduler for Asha {
    /// Implements the paper's get_job: starts the best promotable trial of the highest rung with promotable trials. If
    /// there is none, starts a new trial.
    fn next_job(&mut self) -> Option<Job> {
        let highest_first = self.rungs.iter_mut().enumerate().rev();
        let mut promotions = highest_first.filter_map(|(k, rung)| Some((k, rung.promote()?)));
        if let Some((k, trial)) = promotions.next() {
            return Job::towards(&self.resources, trial, k + 1);
        }
        if self.started >= self.trials {
            return None;
        }
        let trial = self.started;
        self.started += 1;
        Job::towards(&self.resources, trial, 0)
    }

    /// Records the loss of a job. Promotions are decided when jobs are requested, so this method returns no verdict
    /// about promotions.
    fn report(&mut self, job: &Job, loss: f64) -> Vec<Verdict> {
        let Some(rung) = self.rungs.get_mut(job.rung as usize) else {
            return vec![Verdict::Finished { trial: job.trial }];
        };
        rung.insert(Score::new(job.trial, loss));
        Vec::new()
    }

    /// The trials that were last measured below the last rung and have not been promoted since.
    fn unpromoted(&self) -> Vec<u32> {
        self.rungs.iter().flat_map(Standing::unpromoted).collect()
    }
}

/// The ranking of a rung: which trials are in the top 1/eta of the trials measured so far.
///
/// The top is a set that is updated trial by trial, because sorting a rung for each job would take quadratic time
/// in total.
///
/// Example with eta = 3: after 5 results the top has ⌊5 / 3⌋ = 1 trial, and after 6 results it has 2
/// trials. If the seventh result is the best of all, its trial enters the top, and the worst of the three
/// trials then leaves the top. That trial stays promoted if it already was.
#[derive(Debug, Clone)]
struct Standing {
    eta: u32,
    /// The best ⌊measured / eta⌋ trials.
    top: BTreeSet<Score>,
    /// All other measured trials.
    rest: BTreeSet<Score>,
    /// The trials promoted so far. Later results may have pushed some of them out of the top.
    promoted: BTreeSet<Score>,
    /// The trials in the top that have not been promoted.
    promotable: BTreeSet<Score>,
}

impl Standing {
    fn new(eta: u32) -> Self {
        Standing {
            eta,
            top: BTreeSet::new(),
            rest: BTreeSet::new(),
            promoted: BTreeSet::new(),
            promotable: BTreeSet::new(),
        }
    }

    fn insert(&mut self, score: Score) {
        if self.top.last().is_some_and(|worst| score < *worst) {
            self.enter(score);
        } else {
            self.rest.insert(score);
        }
        self.balance();
    }

    /// Restores the size of the top after an insertion: at most one trial has to move.
    fn balance(&mut self) {
        let measured = self.top.len() + self.rest.len();
        let size = measured / self.eta.max(1) as usize;
        if self.top.len() > size {
            if let Some(worst) = self.top.pop_last() {
                self.promotable.remove(&worst);
                self.rest.insert(worst);
            }
        } else if self.top.len() < size
            && let Some(best) = self.rest.pop_first()
        {
            self.enter(best);
        }
    }

    fn enter(&mut self, score: Score) {
        self.top.insert(score);
        if !self.promoted.contains(&score) {
            self.promotable.insert(score);
        }
    }

    /// Promotes the best promotable trial.
    fn promote(&mut self) -> Option<u32> {
        let score = self.promotable.pop_first()?;
        self.promoted.insert(score);
        Some(score.trial)
    }

    fn unpromoted(&self) -> impl Iterator<Item = u32> {
        let all = self.top.iter().chain(&self.rest);
        let left = all.filter(|score| !self.promoted.contains(score));
        left.map(|score| score.trial)
    }
}
