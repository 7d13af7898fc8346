//! The workload model: all estimators, and the choice of the estimator to use.

use std::fmt;
use std::str::FromStr;

use gleaner_observer::{Observer, Parts};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Estimator, Fitted, Learning, Options, Past, Trial};
use crate::ebm::FitError;

/// The choice of an estimator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EstimatorChoice {
    /// The estimator that ranks held-out jobs best (see [`Trial::best`]).
    #[default]
    Best,
    /// The given estimator.
    Named(Estimator),
}

/// The estimator that [`EstimatorChoice::Best`] uses if there are too few jobs to hold some out.
pub(super) const UNTRIED: Estimator = Estimator::Ebm;

/// A trained model that estimates how long jobs run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct WorkloadModel {
    /// Whether the EBMs use the jobs' profiles.
    profile: bool,
    chosen: Estimator,
    trial: Option<Trial>,
    estimators: Estimators,
}

/// All estimators, fitted on the same jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Estimators {
    ebm: Fitted,
    ebm_seconds: Fitted,
    history: Fitted,
    median: Fitted,
    mean: Fitted,
}

/// A model as read from a file, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    profile: bool,
    chosen: Estimator,
    trial: Option<Trial>,
    estimators: Estimators,
}

impl TryFrom<Saved> for WorkloadModel {
    type Error = String;

    fn try_from(saved: Saved) -> Result<Self, String> {
        for estimator in Estimator::ALL {
            if !is_of(estimator, saved.estimators.get(estimator), saved.profile) {
                return Err(format!(
                    "the estimator saved under the name {estimator} is of a different kind"
                ));
            }
        }
        Ok(WorkloadModel {
            profile: saved.profile,
            chosen: saved.chosen,
            trial: saved.trial,
            estimators: saved.estimators,
        })
    }
}

fn is_of(estimator: Estimator, fitted: &Fitted, profile: bool) -> bool {
    let options = |logarithm| Options { profile, logarithm };
    match (estimator, fitted) {
        (Estimator::Ebm, Fitted::Ebm(ebm)) => ebm.options() == options(true),
        (Estimator::EbmSeconds, Fitted::Ebm(ebm)) => ebm.options() == options(false),
        (Estimator::History, Fitted::History(_))
        | (Estimator::Median | Estimator::Mean, Fitted::Constant(_)) => true,
        _ => false,
    }
}

impl Estimators {
    fn get(&self, estimator: Estimator) -> &Fitted {
        match estimator {
            Estimator::Ebm => &self.ebm,
            Estimator::EbmSeconds => &self.ebm_seconds,
            Estimator::History => &self.history,
            Estimator::Median => &self.median,
            Estimator::Mean => &self.mean,
        }
    }
}

impl WorkloadModel {
    /// Runs a trial of every estimator on the jobs in `past` (see [`Trial::run`]). Then fits every estimator on all
    /// jobs in `past`, because any estimator may be requested later.
    ///
    /// # Errors
    /// There is no job, a duration is not finite or is too large, or the fit is stopped.
    pub fn fit(
        past: &[Past<'_>],
        learning: &Learning,
        choice: EstimatorChoice,
        observer: &dyn Observer,
    ) -> Result<Self, FitError> {
        // The trial learns from about two thirds of the jobs, but the exact number is not known in
        // advance.
        let all = Estimator::ALL;
        let [trial_work, work] = [2 * past.len() / 3, past.len()].map(|n| learning.work(&all, n));
        let parts = Parts::new(observer, trial_work.saturating_add(work));
        let part = parts.part(trial_work);
        let trial = Trial::run(&all, past, learning, &part)?;
        part.complete();
        let fit = |estimator: Estimator| {
            let part = parts.part(learning.work_of(estimator, past.len()));
            let fitted = estimator.fit(past, learning, &part);
            part.complete();
            fitted
        };
        Ok(WorkloadModel {
            profile: learning.profile,
            chosen: choice.after(trial.as_ref()),
            trial,
            estimators: Estimators {
                ebm: fit(Estimator::Ebm)?,
                ebm_seconds: fit(Estimator::EbmSeconds)?,
                history: fit(Estimator::History)?,
                median: fit(Estimator::Median)?,
                mean: fit(Estimator::Mean)?,
            },
        })
    }

    /// Whether the EBMs use the jobs' profiles.
    pub fn profile(&self) -> bool {
        self.profile
    }

    /// The results of the estimators on held-out jobs; `None` if there were too few jobs to hold some out.
    pub fn trial(&self) -> Option<&Trial> {
        self.trial.as_ref()
    }

    /// Returns the chosen estimator. For [`EstimatorChoice::Best`], this is the estimator that
    /// performed best in the trial during training.
    pub fn pick(&self, choice: EstimatorChoice) -> (Estimator, &Fitted) {
        let estimator = match choice {
            EstimatorChoice::Best => self.chosen,
            EstimatorChoice::Named(estimator) => estimator,
        };
        (estimator, self.estimators.get(estimator))
    }
}

impl EstimatorChoice {
    /// Whether the chosen estimator may use the date and time of submissions, and therefore needs the calendar of the
    /// trace.
    pub fn needs_calendar(self) -> bool {
        match self {
            EstimatorChoice::Best => true,
            EstimatorChoice::Named(estimator) => estimator.needs_calendar(),
        }
    }

    /// The estimator to use, given the outcome of a trial. `trial` is `None` if there was no trial.
    pub fn after(self, trial: Option<&Trial>) -> Estimator {
        match self {
            EstimatorChoice::Best => trial.map_or(UNTRIED, Trial::best),
            EstimatorChoice::Named(estimator) => estimator,
        }
    }

    /// Fits the chosen estimator on jobs that have ended. If the best estimator is requested, first runs a trial of the
    /// [quick](Estimator::QUICK) estimators on these jobs.
    ///
    /// # Errors
    /// Same as [`WorkloadModel::fit`].
    pub fn fit(
        self,
        past: &[Past<'_>],
        learning: &Learning,
        observer: &dyn Observer,
    ) -> Result<(Estimator, Fitted), FitError> {
        let trial = match self {
            EstimatorChoice::Best => Trial::run(&Estimator::QUICK, past, learning, observer)?,
            EstimatorChoice::Named(_) => None,
        };
        let estimator = self.after(trial.as_ref());
        Ok((estimator, estimator.fit(past, learning, observer)?))
    }
}

impl fmt::Display for EstimatorChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EstimatorChoice::Best => f.pad(BEST),
            EstimatorChoice::Named(estimator) => estimator.fmt(f),
        }
    }
}

const BEST: &str = "best";

impl Serialize for EstimatorChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EstimatorChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl FromStr for EstimatorChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            BEST => Ok(EstimatorChoice::Best),
            name => name
                .parse()
                .map(EstimatorChoice::Named)
                .map_err(|expected| format!("{expected}, {BEST}")),
        }
    }
}
