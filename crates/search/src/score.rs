//! The order of trials within a rung.

use std::cmp::Ordering;

/// A trial with its loss. A lower loss is better. Equal losses are ordered by trial, so that the order is
/// total.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Score {
    /// The loss, which is never NaN or negative zero.
    pub(crate) loss: f64,
    pub(crate) trial: u32,
}

impl Score {
    /// A loss that is not finite becomes infinite, the worst value. A trial whose training diverged therefore never
    /// ranks above a trial with a finite loss, even if its loss is negative infinity.
    pub(crate) fn new(trial: u32, loss: f64) -> Self {
        // Adding zero turns negative zero into positive zero, because the two are equal losses.
        let loss = if loss.is_finite() {
            loss + 0.0
        } else {
            f64::INFINITY
        };
        Score { loss, trial }
    }

    /// The score of a trial with one or several losses; see [`main_loss`].
    pub(crate) fn of(trial: u32, losses: &[f64]) -> Self {
        Score::new(trial, main_loss(losses).unwrap_or(f64::NAN))
    }
}

/// The first of a trial's losses, to which figures about a single loss refer. `None` if any of the losses is not finite,
/// because training then diverged, or if there are none.
pub fn main_loss(losses: &[f64]) -> Option<f64> {
    let is_sound = losses.iter().all(|loss| loss.is_finite());
    losses.first().copied().filter(|_| is_sound)
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_loss = self.loss.total_cmp(&other.loss);
        by_loss.then(self.trial.cmp(&other.trial))
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Score {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Score {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_that_are_not_finite_are_the_worst_and_ties_go_to_the_first_trial() {
        let losses = [f64::NEG_INFINITY, f64::NAN, 2.0, 0.0, -0.0, -1.0, f64::MAX];
        let mut scores: Vec<Score> = (0..).zip(losses).map(|(t, l)| Score::new(t, l)).collect();
        scores.sort();
        let order: Vec<u32> = scores.iter().map(|score| score.trial).collect();
        assert_eq!(order, [5, 3, 4, 2, 6, 0, 1]);
    }
}
