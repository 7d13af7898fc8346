//! Tests estimators on held-out jobs: those submitted in the last weeks of the training data.

use gleaner_observer::{Observer, Parts};
use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

use super::model::UNTRIED;
use super::{Estimator, Job, Learning, Past};
use crate::ebm::FitError;
use crate::metrics::{is_near_chance, mean_absolute_error, spearman};

/// A week in seconds.
const WEEK: i64 = 7 * 24 * 3600;

/// The minimum number of training jobs, and also of held-out jobs.
const LEAST: usize = 10;

/// The results of estimators on jobs that they were not trained on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// Number of training jobs: those that had ended before the held-out period began.
    pub learnt: usize,
    /// Number of held-out jobs, which were submitted last.
    pub held_out: usize,
    /// Submission time of the first held-out job.
    pub from: DateTime,
    /// Submission time of the last held-out job.
    pub to: DateTime,
    /// The score of each estimator that was tried.
    pub scores: Vec<TrialScore>,
}

/// The result of an estimator.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialScore {
    /// The estimator that was tried.
    pub estimator: Estimator,
    /// Spearman's rank correlation between the estimates and the durations; `None` if all estimates or
    /// all durations are equal.
    pub rank_correlation: Option<f64>,
    /// Mean absolute error, in seconds.
    pub mae: f64,
}

/// The time at which the held-out period begins, in seconds. `first` and `last` are the times of
/// the first and last submission. The last third of this span is held out. If this third is longer
/// than a week, it is rounded down to whole weeks. For example, a third of 54 days is 18 days, so
/// the last 14 days are held out.
fn held_out_from(first: i64, last: i64) -> i64 {
    let third = last.saturating_sub(first) / 3;
    let weeks = third / WEEK * WEEK;
    last - if weeks > 0 { weeks } else { third }
}

impl Trial {
    /// Tests `estimators` on held-out jobs: those submitted in the last third of the time span. If
    /// this third is longer than a week, it is rounded down to whole weeks. The estimators learn from the jobs that had
    /// ended before the held-out period. Returns `None` if there are too few jobs.
    ///
    /// # Errors
    /// Same as [`Estimator::fit`].
    pub fn run(
        estimators: &[Estimator],
        past: &[Past<'_>],
        learning: &Learning,
        observer: &dyn Observer,
    ) -> Result<Option<Trial>, FitError> {
        let submissions = || past.iter().map(|past| past.submitted);
        let (Some(first), Some(last)) = (submissions().min(), submissions().max()) else {
            return Ok(None);
        };
        let from = held_out_from(first, last);
        let known: Vec<Past<'_>> = kept(past, |past| past.ended < from);
        let held_out: Vec<Past<'_>> = kept(past, |past| past.submitted >= from);
        if known.len() < LEAST || held_out.len() < LEAST {
            return Ok(None);
        }
        let jobs: Vec<Job<'_>> = held_out.iter().map(|past| past.job.clone()).collect();
        let truth: Vec<f64> = held_out.iter().map(|past| past.seconds).collect();
        let parts = Parts::new(observer, learning.work(estimators, known.len()));
        let score = |&estimator: &Estimator| {
            let part = parts.part(learning.work_of(estimator, known.len()));
            let estimates = estimator.fit(&known, learning, &part)?.predict(&jobs);
            part.complete();
            let rank = spearman(&truth, &estimates);
            Ok(TrialScore {
                estimator,
                rank_correlation: Some(rank).filter(|rank| rank.is_finite()),
                mae: mean_absolute_error(&truth, &estimates),
            })
        };
        let scores: Result<_, FitError> = estimators.iter().map(score).collect();
        let times = || jobs.iter().map(|job| job.submitted);
        Ok(Some(Trial {
            learnt: known.len(),
            held_out: jobs.len(),
            from: times().min().unwrap_or_default(),
            to: times().max().unwrap_or_default(),
            scores: scores?,
        }))
    }

    /// Returns the estimator with the highest rank correlation on the held-out jobs. Ranks
    /// matter most because schedulers order jobs by their estimates. If rank correlations are equal,
    /// the estimator with the smallest error is returned. A missing rank correlation counts as 0.
    pub fn best(&self) -> Estimator {
        let rank = |score: &TrialScore| score.rank_correlation.unwrap_or_default();
        let mut best: Option<&TrialScore> = None;
        for score in &self.scores {
            let beats = |best: &TrialScore| {
                let ranks = rank(score).total_cmp(&rank(best));
                ranks.then(best.mae.total_cmp(&score.mae)).is_gt()
            };
            if best.is_none_or(beats) {
                best = Some(score);
            }
        }
        best.map_or(UNTRIED, |score| score.estimator)
    }

    /// Whether the best estimator is hardly better than chance at ranking the held-out jobs.
    pub fn is_near_chance(&self) -> bool {
        let ranks = self
            .scores
            .iter()
            .filter_map(|score| score.rank_correlation);
        is_near_chance(ranks.fold(0.0, f64::max), self.held_out)
    }
}

fn kept<'j>(past: &[Past<'j>], keep: impl Fn(&Past<'j>) -> bool) -> Vec<Past<'j>> {
    past.iter().filter(|past| keep(past)).cloned().collect()
}
