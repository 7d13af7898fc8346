//! Estimators of durations: how they did, and estimates by those that are plain rules.

use gleaner_models::lucid::history::{Alike, Found};
use gleaner_models::lucid::workload::{
    Estimator, EstimatorChoice, Fitted, Job, Trial, WorkloadModel,
};
use serde::Serialize;

use crate::words::counted;

/// The estimator of a workload model that is explained.
#[derive(Debug, Clone, Serialize)]
pub struct EstimatorFacts {
    /// It.
    pub name: Estimator,
    /// The one that is used where no other is named.
    pub chosen: Estimator,
    /// What it has learnt, where it is a rule; empty of a machine.
    pub learnt: String,
    /// How all estimators did on the last weeks of the training span; none where it had too few
    /// jobs.
    pub trial: Option<Trial>,
}

/// An estimate by a rule.
#[derive(Debug, Clone, Serialize)]
pub struct Rule {
    /// What is estimated.
    pub subject: String,
    /// The estimated duration in seconds.
    pub seconds: f64,
    /// The past jobs that it is the mean of, where it is one.
    pub jobs: Option<u64>,
    /// What those have in common with this one; empty where that is nothing.
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

/// What past jobs have in common with a job.
fn words(found: &Found<'_>, job: &Job<'_>) -> String {
    let user = Some(format!("user {}", job.user)).filter(|_| !job.user.is_empty());
    let gpus = || counted(job.gpus, "GPU");
    let parts = match &found.alike {
        Alike::NameAndGpus(names) => [user, Some(gpus()), name(names, job.name)],
        Alike::Name(names) => [user, name(names, job.name), None],
        Alike::User => [user, None, None],
        Alike::Everyone => [None, None, None],
    };
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The name of a job, or those like it; none where jobs have no names.
fn name(found: &[&str], name: &str) -> Option<String> {
    if found == [name] {
        return Some(format!("name {name:?}")).filter(|_| !name.is_empty());
    }
    let quoted: Vec<String> = found.iter().map(|found| format!("{found:?}")).collect();
    Some(format!("name {} for {name:?}", quoted.join(" or ")))
}
