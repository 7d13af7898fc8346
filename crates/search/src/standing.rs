//! The ranking of an ASHA rung: the trials that are among the best 1/eta of the trials measured so far.

use std::collections::BTreeSet;

use crate::fronts::Fronts;
use crate::score::Score;

/// The ranking of a rung.
#[derive(Debug, Clone)]
pub(crate) enum Standing {
    OneLoss(Top),
    SeveralLosses(ByFront),
}

impl Standing {
    /// The ranking of a rung at which no trial has been measured.
    pub(crate) fn new(eta: u32) -> Self {
        Standing::OneLoss(Top::new(eta))
    }

    /// Adds a trial that was measured at the rung.
    pub(crate) fn insert(&mut self, trial: u32, losses: &[f64]) {
        match self {
            Standing::OneLoss(top) if losses.len() > 1 => {
                let mut by_front = ByFront::from(&*top);
                by_front.insert(trial, losses);
                *self = Standing::SeveralLosses(by_front);
            }
            Standing::OneLoss(top) => top.insert(Score::of(trial, losses)),
            Standing::SeveralLosses(by_front) => by_front.insert(trial, losses),
        }
    }

    /// Promotes the best promotable trial.
    pub(crate) fn promote(&mut self) -> Option<u32> {
        match self {
            Standing::OneLoss(top) => top.promote(),
            Standing::SeveralLosses(by_front) => by_front.promote(),
        }
    }

    /// The measured trials that have not been promoted.
    pub(crate) fn unpromoted(&self) -> Vec<u32> {
        match self {
            Standing::OneLoss(top) => top.unpromoted().collect(),
            Standing::SeveralLosses(by_front) => by_front.unpromoted().collect(),
        }
    }
}

/// The ranking of trials with several losses.
#[derive(Debug, Clone)]
pub(crate) struct ByFront {
    eta: u32,
    fronts: Fronts,
    measured: BTreeSet<u32>,
    promoted: BTreeSet<u32>,
}

impl From<&Top> for ByFront {
    fn from(top: &Top) -> Self {
        let mut by_front = ByFront {
            eta: top.eta,
            fronts: Fronts::default(),
            measured: BTreeSet::new(),
            promoted: top.promoted.iter().map(|score| score.trial).collect(),
        };
        for score in top.top.iter().chain(&top.rest) {
            by_front.insert(score.trial, &[score.loss]);
        }
        by_front
    }
}

impl ByFront {
    fn insert(&mut self, trial: u32, losses: &[f64]) {
        self.measured.insert(trial);
        self.fronts.insert(trial, losses);
    }

    fn promote(&mut self) -> Option<u32> {
        let count = self.measured.len() / self.eta.max(1) as usize;
        let is_promoted = |trial| self.promoted.contains(&trial);
        let best = self.fronts.best_of(count, |trial| !is_promoted(trial))?;
        self.promoted.insert(best);
        Some(best)
    }

    fn unpromoted(&self) -> impl Iterator<Item = u32> {
        self.measured.difference(&self.promoted).copied()
    }
}

/// The ranking of trials with one loss.
///
/// The top is a set that is updated trial by trial, because sorting a rung for each job would take quadratic time
/// in total.
///
/// Example with eta = 3: after 5 results the top has ⌊5 / 3⌋ = 1 trial, and after 6 results it has 2 trials. If the
/// seventh result is the best of all, its trial enters the top, and the worst of the three trials then leaves the top.
/// That trial stays promoted if it has already been promoted.
#[derive(Debug, Clone)]
pub(crate) struct Top {
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

impl Top {
    fn new(eta: u32) -> Self {
        Top {
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
