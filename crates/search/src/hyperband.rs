//! A sequence of brackets of successive halving (Li et al. 2018, Algorithm 1).

use crate::halving::Halving;
use crate::{Bracket, Job, Scheduler, Verdict};

/// The brackets of a search. Random search and successive halving have one bracket, and Hyperband
/// has several brackets.
#[derive(Debug, Clone)]
pub(crate) struct Hyperband {
    brackets: Vec<Halving>,
}

impl Hyperband {
    /// Creates the brackets. Trials are numbered in the order of the brackets.
    pub(crate) fn new(brackets: Vec<Bracket>) -> Self {
        let mut first = 0_u32;
        let mut number = |bracket: Bracket| {
            let trials = bracket.rungs.first().map_or(0, |rung| rung.trials);
            let halving = Halving::new(bracket, first);
            first = first.saturating_add(trials);
            halving
        };
        Hyperband {
            brackets: brackets.into_iter().map(&mut number).collect(),
        }
    }
}

impl Scheduler for Hyperband {
    /// The next job, from the first bracket that has a job to hand out. Brackets share no trials,
    /// so a bracket's result does not depend on whether the next bracket has started.
    fn next_job(&mut self) -> Option<Job> {
        self.brackets.iter_mut().find_map(Halving::start)
    }

    fn report(&mut self, job: &Job, loss: f64) -> Vec<Verdict> {
        self.report_all(job, &[loss])
    }

    fn report_all(&mut self, job: &Job, losses: &[f64]) -> Vec<Verdict> {
        let mut brackets = self.brackets.iter_mut();
        let own = brackets.find(|bracket| bracket.number() == job.bracket);
        own.map_or_else(Vec::new, |bracket| bracket.report(job.trial, losses))
    }

    /// The trials that are waiting for their rungs to close.
    fn unpromoted(&self) -> Vec<u32> {
        self.brackets.iter().flat_map(Halving::unpromoted).collect()
    }
}
