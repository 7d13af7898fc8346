//! Explains estimators of durations: their scores, and the estimates of estimators that are rules.

use gleaner_learn::lucid::history::{Found, Similarity};
use gleaner_learn::lucid::workload::{
    Estimator, EstimatorChoice, Fitted, Job, Trial, WorkloadModel,
};
use serde::Serialize;

use gleaner_domain::words::counted;

/// The explained estimator of a workload model.
#[derive(Debug, Clone, Serialize)]
pub struct EstimatorFacts {
    /// The estimator that is explained.
    pub name: Estimator,
    /// The estimator that is used by default.
    pub chosen: Estimator,
    /// A description of what the estimator has learnt; empty if the estimator is an EBM.
    pub learnt: String,
    /// Scores of all estimators on the last weeks of the training period; `None` if that period had
    /// too few jobs.
    pub trial: Option<Trial>,
}

/// An estimate by a rule.
#[derive(Debug, Clone, Serialize)]
pub struct Rule {
    /// The job whose duration is estimated, such as `job 17`.
    pub subject: String,
    /// The estimated duration in seconds.
    pub seconds: f64,
    /// Number of past jobs whose mean duration is the estimate; `None` if the rule does not select
    /// past jobs.
    pub jobs: Option<u64>,
    /// The properties that these past jobs share with the job; empty if they share none.
    pub alike: String,
}

impl EstimatorFacts {
    pub(super) fn of(model: &WorkloadModel, choice: EstimatorChoice) -> Self {
        let (name, fitted) = model.pick(choice);
        let (chosen, _) = model.pick(EstimatorChoice::Best);
        EstimatorFacts {
            name,
            chosen,
            learnt: match fitted {
                Fitted::Ebm(_) => String::new(),
                Fitted::Constant(seconds) => format!("{seconds:.0} s for every job"),
                Fitted::History(history) => format!(
                    "{} of {}",
                    counted(history.jobs(), "job"),
                    counted(history.users() as u64, "user")
                ),
            },
            trial: model.trial().cloned(),
        }
    }
}

impl Rule {
    pub(super) fn of(fitted: &Fitted, subject: String, job: &Job<'_>) -> Self {
        let found = match fitted {
            Fitted::History(history) => history.find(job.user, job.name, job.gpus),
            _ => None,
        };
        let seconds = fitted.predict(std::slice::from_ref(job));
        Rule {
            subject,
            seconds: seconds.first().copied().unwrap_or_default(),
            jobs: found.as_ref().map(|found| found.jobs),
            alike: found.map_or_else(String::new, |found| words(&found, job)),
        }
    }
}

/// Describes the properties that past jobs share with a job.
fn words(found: &Found<'_>, job: &Job<'_>) -> String {
    let user = Some(format!("user {}", job.user)).filter(|_| !job.user.is_empty());
    let gpus = || counted(job.gpus, "GPU");
    let parts = match &found.alike {
        Similarity::NameAndGpus(names) => [user, Some(gpus()), name(names, job.name)],
        Similarity::Name(names) => [user, name(names, job.name), None],
        Similarity::User => [user, None, None],
        Similarity::Everyone => [None, None, None],
    };
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Describes a job's name, or the similar names that were found; `None` if the job has no name.
fn name(found: &[&str], name: &str) -> Option<String> {
    if found == [name] {
        return Some(format!("name {name:?}")).filter(|_| !name.is_empty());
    }
    let quoted: Vec<String> = found.iter().map(|found| format!("{found:?}")).collect();
    Some(format!("name {} for {name:?}", quoted.join(" or ")))
}
