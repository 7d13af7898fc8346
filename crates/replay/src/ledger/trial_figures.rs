//! Computes the summary's figures about a search.

use gleaner_domain::Utc;
use gleaner_domain::results::search::{SearchOutcome, TrialRow, TrialState};

/// The replayed time span.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub from: Utc,
    pub to: Utc,
}

impl Span {
    /// Length of the time span.
    pub fn seconds(&self) -> f64 {
        self.to.seconds_since(self.from)
    }
}

/// The figures of a search: numbers of trials, times since the first event, losses, and work.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TrialFigures {
    pub started: usize,
    pub stopped: usize,
    pub finished: usize,
    /// Number of trials that reached at least one rung, per hour.
    pub per_hour: Option<f64>,
    pub first_rung_s: Option<f64>,
    pub last_rung_s: Option<f64>,
    pub best_loss: Option<f64>,
    pub best_trial_s: Option<f64>,
    pub regret: Option<f64>,
    /// Number of finished trials that no finished trial dominates; `None` if trials have only one loss.
    pub front_trials: Option<usize>,
    /// Work spent on trials that did not reach the last rung.
    pub wasted_work: f64,
}

impl TrialFigures {
    pub fn of(outcome: &SearchOutcome, span: &Span) -> Self {
        let trials = &outcome.trials;
        let count = |state| trials.iter().filter(|trial| trial.state == state).count();
        let finished = |trial: &&TrialRow| trial.state == TrialState::Finished;
        let ends = trials.iter().filter(finished).filter_map(|trial| trial.end);
        let since = |time: Utc| time.seconds_since(span.from);
        // A diverged trial is never the best trial, even if no other trial finished.
        let best = outcome
            .best()
            .filter(|trial| trial.loss.is_some_and(f64::is_finite));
        let least = trials.iter().map(|t| t.final_loss).reduce(f64::min);
        let reached = trials.iter().filter(|trial| trial.end.is_some()).count();
        let hours = span.seconds() / 3600.0;
        TrialFigures {
            started: trials.len(),
            stopped: count(TrialState::Stopped),
            finished: count(TrialState::Finished),
            per_hour: (hours > 0.0).then(|| reached as f64 / hours),
            first_rung_s: outcome
                .rungs
                .iter()
                .map(|rung| rung.first_s)
                .reduce(f64::min),
            last_rung_s: ends.min().map(since),
            best_loss: best.and_then(|trial| trial.loss),
            best_trial_s: best.and_then(|trial| trial.end).map(since),
            regret: best
                .zip(least)
                .map(|(trial, least)| trial.final_loss - least)
                .filter(|regret| regret.is_finite()),
            front_trials: trials
                .iter()
                .any(|trial| !trial.losses.0.is_empty())
                .then(|| trials.iter().filter(|trial| trial.front == Some(0)).count()),
            wasted_work: trials
                .iter()
                .filter(|trial| !finished(trial))
                .map(|trial| trial.work_done)
                .sum(),
        }
    }
}
