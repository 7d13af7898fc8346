//! Synchronous successive halving: one bracket (Li et al. 2020, Algorithm 1).

use std::collections::VecDeque;

use crate::fronts::Fronts;
use crate::score::Score;
use crate::{Bracket, Job, Verdict};

/// The state of a bracket, whose trials move from rung to rung together.
#[derive(Debug, Clone)]
pub(crate) struct Halving {
    bracket: Bracket,
    /// Index of the rung on which the trials are being measured.
    rung: usize,
    /// Trials whose jobs on this rung have not been handed out yet.
    ready: VecDeque<u32>,
    /// The trials measured on this rung, with their losses. Losses on the last rung are not kept, because no promotion
    /// depends on them.
    measured: Vec<(u32, Vec<f64>)>,
}

impl Halving {
    /// Creates a bracket whose trials are numbered from `first`.
    pub(crate) fn new(bracket: Bracket, first: u32) -> Self {
        let trials = bracket.rungs.first().map_or(0, |rung| rung.trials);
        Halving {
            bracket,
            rung: 0,
            ready: (first..first.saturating_add(trials)).collect(),
            measured: Vec::new(),
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

    /// Records the losses of a trial on the current rung.
    pub(crate) fn report(&mut self, trial: u32, losses: &[f64]) -> Vec<Verdict> {
        let Some(above) = self.bracket.rungs.get(self.rung + 1) else {
            return vec![Verdict::Finished { trial }];
        };
        self.measured.push((trial, losses.to_vec()));
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
        let measured = std::mem::take(&mut self.measured);
        let mut verdicts = Vec::new();
        for (rank, trial) in ranked(&measured).into_iter().enumerate() {
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
        self.measured.iter().map(|(trial, _)| *trial)
    }
}

/// The measured trials, best first.
fn ranked(measured: &[(u32, Vec<f64>)]) -> Vec<u32> {
    if measured.iter().any(|(_, losses)| losses.len() > 1) {
        let mut fronts = Fronts::default();
        for (trial, losses) in measured {
            fronts.insert(*trial, losses);
        }
        return fronts.ranked().collect();
    }
    let scores = measured.iter();
    let scores = scores.map(|(trial, losses)| Score::of(*trial, losses));
    let mut scores: Vec<Score> = scores.collect();
    scores.sort_unstable();
    scores.into_iter().map(|score| score.trial).collect()
}
