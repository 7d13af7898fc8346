//! Synchronous successive halving: one bracket (Li et al. 2020, Algorithm 1).

use std::collections::{BTreeSet, VecDeque};

use crate::score::Score;
use crate::{Bracket, Job, Verdict};

/// The state of a bracket, whose trials go from rung to rung together.
#[derive(Debug, Clone)]
pub(crate) struct Halving {
    bracket: Bracket,
    /// Index of the rung on which the trials are being measured.
    rung: usize,
    /// Trials whose jobs on this rung have not been handed out yet.
    ready: VecDeque<u32>,
    /// The losses measured on this rung. Losses on the last rung are not kept, because no promotion
    /// depends on them.
    measured: BTreeSet<Score>,
}

impl Halving {
    /// Creates a bracket whose trials are numbered from `first`.
    pub(crate) fn new(bracket: Bracket, first: u32) -> Self {
        let trials = bracket.rungs.first().map_or(0, |rung| rung.trials);
        Halving {
            bracket,
            rung: 0,
            ready: (first..first.saturating_add(trials)).collect(),
            measured: BTreeSet::new(),
        }
    }

    /// Number of the bracket.
    pub(crate) fn number(&self) -> u32 {
        self.bracket.number
    }

    /// The next job on the current rung, if any.
    pub(crate) fn start(&mut self) -> Option<Job> {
        let to = self.bracket.rungs.get(self.rung)?.resource;
        let below = self.rung.checked_sub(1);
        let below = below.and_then(|below| self.bracket.rungs.get(below));
        Some(Job {
            trial: self.ready.pop_front()?,
            rung: self.rung as u32,
            bracket: self.bracket.number,
            from: below.map_or(0.0, |rung| rung.resource),
            to,
        })
    }

    /// Records the loss of a job on the current rung.
    pub(crate) fn report(&mut self, score: Score) -> Vec<Verdict> {
        let Some(above) = self.bracket.rungs.get(self.rung + 1) else {
            return vec![Verdict::Finished { trial: score.trial }];
        };
        self.measured.insert(score);
        let size = self.bracket.rungs[self.rung].trials as usize;
        if self.measured.len() < size {
            Vec::new()
        } else {
            let (kept, to) = (above.trials as usize, above.resource);
            self.close(kept, to)
        }
    }

    /// Closes the rung and promotes the best `kept` trials to the next rung, whose resource is `to`.
    fn close(&mut self, kept: usize, to: f64) -> Vec<Verdict> {
        self.rung += 1;
        let rung = self.rung as u32;
        let ranked = std::mem::take(&mut self.measured);
        let order = ranked.into_iter().map(|score| score.trial);
        let mut verdicts = Vec::new();
        for (rank, trial) in order.enumerate() {
            if rank < kept {
                self.ready.push_back(trial);
                verdicts.push(Verdict::Promoted { trial, rung, to });
            } else {
                verdicts.push(Verdict::Stopped { trial });
            }
        }
        verdicts
    }

    /// The trials that are waiting for their rung to close, in no particular order.
    pub(crate) fn unpromoted(&self) -> impl Iterator<Item = u32> {
        self.measured.iter().map(|score| score.trial)
    }
}
