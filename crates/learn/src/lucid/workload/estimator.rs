//! The methods of estimating the run times of jobs.

use std::fmt;
use std::str::FromStr;

use gleaner_observer::Observer;
use serde::{Deserialize, Serialize};

use super::{DurationEbm, Job, Options, features};
use crate::ebm::FitError;
use crate::isotonic::Direction;
use crate::lucid::history::History;
use crate::metrics::{mean, median};

/// A method of estimating the run times of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// An EBM that learns the logarithm of the duration.
    Ebm,
    /// An EBM that learns the duration in seconds, as published.
    EbmSeconds,
    /// The mean duration of the user's earlier jobs with the same name and number of GPUs (see
    /// [`History`]).
    History,
    /// The median duration of all past jobs, used as the estimate for every job.
    Median,
    /// The mean duration of all past jobs, used as the estimate for every job.
    Mean,
}

/// The settings for training estimators.
#[derive(Debug, Clone, PartialEq)]
pub struct Learning {
    /// Whether the job's profile is among the features of EBMs.
    pub profile: bool,
    /// Seed of the EBMs.
    pub seed: u64,
    /// Features whose curves are made monotone in the EBMs.
    pub monotone: Vec<(String, Direction)>,
}

/// A job that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Past<'j> {
    /// The information about the job that was available at its submission.
    pub job: Job<'j>,
    /// Submission time, in seconds on the trace's clock.
    pub submitted: i64,
    /// End time, in seconds on the same clock.
    pub ended: i64,
    /// Run time, in seconds.
    pub seconds: f64,
}

/// A trained estimator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fitted {
    /// A trained EBM.
    Ebm(Box<DurationEbm>),
    /// Mean durations of users' past jobs.
    History(History),
    /// The same duration for every job, in seconds.
    Constant(f64),
}

impl Estimator {
    /// All estimators.
    pub const ALL: [Estimator; 5] = [
        Estimator::Ebm,
        Estimator::EbmSeconds,
        Estimator::History,
        Estimator::Median,
        Estimator::Mean,
    ];

    /// The estimators that need at most about two seconds to learn from 20,000 jobs. Training an
    /// EBM on seconds takes ten times as long as training an EBM on logarithms.
    pub const QUICK: [Estimator; 4] = [
        Estimator::Ebm,
        Estimator::History,
        Estimator::Median,
        Estimator::Mean,
    ];

    /// Name of the estimator on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Estimator::Ebm => "ebm",
            Estimator::EbmSeconds => "ebm-seconds",
            Estimator::History => "history",
            Estimator::Median => "median",
            Estimator::Mean => "mean",
        }
    }

    /// Title of the estimator in reports.
    pub fn title(self) -> &'static str {
        match self {
            Estimator::Ebm => "EBM on logarithms",
            Estimator::EbmSeconds => "EBM on seconds",
            Estimator::History => "user's history",
            Estimator::Median => "training median",
            Estimator::Mean => "training mean",
        }
    }

    /// Whether the estimator uses the date and time of submissions, and therefore needs the calendar of the trace.
    pub fn needs_calendar(self) -> bool {
        matches!(self, Estimator::Ebm | Estimator::EbmSeconds)
    }

    /// Trains the estimator on jobs that have ended.
    ///
    /// # Errors
    /// There is no job, or the fit is stopped. For an EBM, it is also an error if a duration is too
    /// large or not finite.
    pub fn fit(
        self,
        past: &[Past<'_>],
        learning: &Learning,
        observer: &dyn Observer,
    ) -> Result<Fitted, FitError> {
        if past.is_empty() {
            return Err(FitError::NoRows);
        }
        let seconds: Vec<f64> = past.iter().map(|past| past.seconds).collect();
        Ok(match self {
            Estimator::Ebm => learning.ebm(past, &seconds, true, observer)?,
            Estimator::EbmSeconds => learning.ebm(past, &seconds, false, observer)?,
            Estimator::History => Fitted::History(history(past)),
            Estimator::Median => Fitted::Constant(median(&seconds)),
            Estimator::Mean => Fitted::Constant(mean(&seconds)),
        })
    }
}

impl Learning {
    /// An upper bound on the work of training an estimator on `rows` jobs, in the unit of
    /// [`Settings::work`](crate::ebm::Settings::work). Returns 0 for estimators that are not EBMs.
    pub fn work_of(&self, estimator: Estimator, rows: usize) -> usize {
        let logarithm = match estimator {
            Estimator::Ebm => true,
            Estimator::EbmSeconds => false,
            Estimator::History | Estimator::Median | Estimator::Mean => return 0,
        };
        let profile = self.profile;
        let settings = Options { profile, logarithm }.settings(self.seed);
        settings.work(rows, features(&[], profile).names().len())
    }

    /// An upper bound on the total work of training these estimators on `rows` jobs.
    pub(super) fn work(&self, estimators: &[Estimator], rows: usize) -> usize {
        let work = |&estimator| self.work_of(estimator, rows);
        estimators.iter().map(work).fold(0, usize::saturating_add)
    }

    fn ebm(
        &self,
        past: &[Past<'_>],
        seconds: &[f64],
        logarithm: bool,
        observer: &dyn Observer,
    ) -> Result<Fitted, FitError> {
        let profile = self.profile;
        let options = Options { profile, logarithm };
        let jobs: Vec<Job<'_>> = past.iter().map(|past| past.job.clone()).collect();
        let settings = options.settings(self.seed);
        let mut ebm = DurationEbm::fit(&jobs, seconds, options, &settings, observer)?;
        for (feature, direction) in &self.monotone {
            ebm.smooth(feature, *direction);
        }
        Ok(Fitted::Ebm(Box::new(ebm)))
    }
}

/// A history to which past jobs are added in the order in which they ended. Jobs that ended at the
/// same time are added in the given order.
fn history(past: &[Past<'_>]) -> History {
    let mut ended: Vec<&Past<'_>> = past.iter().collect();
    ended.sort_by_key(|past| past.ended);
    let mut history = History::default();
    for past in ended {
        let Job {
            user, name, gpus, ..
        } = past.job;
        history.learn(user, name, gpus, past.seconds);
    }
    history
}

impl Fitted {
    /// Estimates how long jobs will run, in seconds. An EBM that learnt seconds can return negative estimates.
    pub fn predict(&self, jobs: &[Job<'_>]) -> Vec<f64> {
        match self {
            Fitted::Ebm(ebm) => ebm.predict(jobs),
            Fitted::History(history) => {
                let estimate = |job: &Job<'_>| history.estimate(job.user, job.name, job.gpus);
                let estimates = jobs.iter().map(estimate);
                estimates.map(Option::unwrap_or_default).collect()
            }
            Fitted::Constant(seconds) => vec![*seconds; jobs.len()],
        }
    }

    /// The EBM; `None` if this estimator is not an EBM.
    pub fn ebm(&self) -> Option<&DurationEbm> {
        match self {
            Fitted::Ebm(ebm) => Some(ebm),
            _ => None,
        }
    }
}

impl fmt::Display for Estimator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Estimator {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = Estimator::ALL.into_iter().find(|one| one.name() == text);
        named.ok_or_else(|| {
            let names = Estimator::ALL.map(Estimator::name);
            format!("expected one of {}", names.join(", "))
        })
    }
}
