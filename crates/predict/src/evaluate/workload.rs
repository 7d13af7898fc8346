//! Evaluates estimates of job durations.

use gleaner_domain::Observer;
use gleaner_domain::observer::Parts;
use gleaner_learn::Table;
use gleaner_learn::lucid::history::{Ended, estimates};
use gleaner_learn::lucid::workload::{
    Estimator, Job as Known, Learning, Options, features, from_log, to_log,
};
use serde::Serialize;

use super::{BASELINES, EvaluateError, Score, Split, best, measured};
use crate::past_jobs;
use crate::weekly::weeks;
use gleaner_domain::Trace;
use gleaner_domain::inputs::EstimateTable;

/// The data and settings of an evaluation.
pub struct WorkloadTask<'t> {
    /// The trace whose jobs are estimated.
    pub trace: &'t Trace,
    /// The properties of each job of the trace that are known at its submission.
    pub known: &'t [Known<'t>],
    /// Number of training jobs, which are the first jobs of the trace.
    pub train: usize,
    /// Estimates from another source, to be scored as well.
    pub published: Option<&'t EstimateTable>,
    /// Seed for training the models.
    pub seed: u64,
}

/// Scores of models that are trained once on the first jobs, and of estimators that are retrained
/// each week.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkloadScores {
    /// Number of training jobs.
    pub train: usize,
    /// Number of estimated jobs.
    pub test: usize,
    /// Scores of models that use the job's profile. In published traces, the profile reveals the
    /// duration.
    pub with_profile: Vec<Score>,
    /// Scores of models that do not use the job's profile.
    pub without_profile: Vec<Score>,
    /// Scores of rules, and of estimates from another source.
    pub rules: Vec<Score>,
    /// The estimators that rank jobs best, with and without profiles.
    pub best: Best,
    /// Number of estimated jobs after the first week.
    pub weekly_test: usize,
    /// Scores of estimators that are retrained at the start of each week. They learn from the jobs
    /// that would have ended by then if no job had waited.
    pub weekly: Vec<Score>,
}

/// The estimators with the highest rank correlation. Only estimators that a user can choose and
/// that learnt from the same jobs are compared. `None` if no rank correlation is defined.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Best {
    /// Name of the best estimator among the rules and the EBMs that use profiles.
    pub with_profile: Option<String>,
    /// Name of the best estimator among the rules and the EBMs that do not use profiles.
    pub without_profile: Option<String>,
}

/// The EBM estimators: one learns logarithms of durations, the other durations in seconds.
pub(super) const EBMS: [Estimator; 2] = [Estimator::Ebm, Estimator::EbmSeconds];

/// The rule-based estimators, which never use profiles.
pub(super) const RULES: [Estimator; 3] = [Estimator::History, Estimator::Mean, Estimator::Median];

/// Trains on the first jobs and estimates the durations of the remaining jobs. Then estimates the
/// jobs of each week after the first with estimators that are retrained for that week.
///
/// # Errors
/// The evaluation is stopped, or a model cannot be trained, for example because there are no training jobs.
pub fn workload(
    task: &WorkloadTask<'_>,
    observer: &dyn Observer,
) -> Result<WorkloadScores, EvaluateError> {
    let seconds: Vec<f64> = task
        .trace
        .jobs
        .iter()
        .map(|job| job.duration as f64)
        .collect();
    let parts = Parts::new(observer, task.work());
    let with_profile = task.models(&seconds, true, &parts)?;
    let without_profile = task.models(&seconds, false, &parts)?;
    let rules = task.rules(&seconds, &parts)?;
    let (weekly_test, weekly) = task.weekly(&seconds, &parts)?;
    Ok(WorkloadScores {
        train: task.train,
        test: seconds.len() - task.train,
        best: Best {
            with_profile: best_estimator(&with_profile, &rules),
            without_profile: best_estimator(&without_profile, &rules),
        },
        with_profile,
        without_profile,
        rules,
        weekly_test,
        weekly,
    })
}

/// The title of the estimator that ranks jobs best.
fn best_estimator(models: &[Score], rules: &[Score]) -> Option<String> {
    let titles = Estimator::ALL.map(Estimator::title);
    let can_be_chosen = |score: &&Score| titles.contains(&score.model.as_str());
    best(models.iter().chain(rules).filter(can_be_chosen))
}

/// The training options of an EBM with or without profiles.
fn options(ebm: Estimator, profile: bool) -> Options {
    Options {
        profile,
        logarithm: ebm == Estimator::Ebm,
    }
}

impl WorkloadTask<'_> {
    /// The work of the evaluation, in boosting rounds of one term on one row.
    fn work(&self) -> usize {
        let all = |rows: usize| {
            let profiles = [true, false].into_iter();
            let works = profiles
                .flat_map(|profile| EBMS.map(|ebm| self.learning(profile).work_of(ebm, rows)));
            works.fold(0, usize::saturating_add)
        };
        let baselines = self.baseline_work().saturating_mul(4 * BASELINES);
        let weeks = weeks(self.trace, self.start());
        let weekly = weeks.map(|week| all(self.could_have_ended(week.from).count()));
        weekly.fold(
            all(self.train).saturating_add(baselines),
            usize::saturating_add,
        )
    }

    /// The work of training a model from a library, which takes about as long as training an EBM.
    fn baseline_work(&self) -> usize {
        self.learning(true).work_of(Estimator::Ebm, self.train)
    }

    /// Scores of models that learn durations in seconds, and of models that learn the logarithms of
    /// durations.
    fn models(
        &self,
        seconds: &[f64],
        profile: bool,
        parts: &Parts<'_>,
    ) -> Result<Vec<Score>, EvaluateError> {
        let (first, rest) = self.known.split_at(self.train);
        let tables: [Table; 2] = [first, rest].map(|jobs| features(jobs, profile));
        let (labels, truth) = seconds.split_at(self.train);
        let logarithms: Vec<f64> = labels.iter().map(|&seconds| to_log(seconds)).collect();
        let mut scores = Vec::new();
        for ebm in EBMS {
            let options = options(ebm, profile);
            let split = Split {
                train: &tables[0],
                test: &tables[1],
                labels: if options.logarithm {
                    &logarithms
                } else {
                    labels
                },
                truth,
                unit: if options.logarithm {
                    from_log
                } else {
                    |seconds| seconds
                },
                parts,
            };
            let suffix = ebm.title().trim_start_matches("EBM");
            scores.push(split.ebm(ebm.title(), options.settings(self.seed))?);
            scores.extend(split.baselines(suffix, self.seed, self.baseline_work())?);
        }
        Ok(scores)
    }

    fn rules(&self, seconds: &[f64], parts: &Parts<'_>) -> Result<Vec<Score>, EvaluateError> {
        let truth = &seconds[self.train..];
        let mut scores = Vec::new();
        if let Some(published) = self.published {
            let jobs = self.trace.jobs[self.train..].iter();
            let told = jobs.map(|job| published.0.get(&job.id).copied().unwrap_or(f64::NAN));
            scores.push(Score::of(
                "estimates given",
                truth,
                &told.collect::<Vec<_>>(),
            ));
        }
        let past = past_jobs(self.trace, self.known, 0..self.train);
        for rule in RULES {
            let fit = || rule.fit(&past, &self.learning(false), parts.observer());
            scores.push(measured(
                rule.title(),
                truth,
                || fit().map_err(|error| error.to_string()),
                |fitted| Ok(fitted.predict(&self.known[self.train..])),
            )?);
        }
        let history = self.history_as_jobs_end(seconds);
        let name = format!("{}, updated as jobs end", Estimator::History.title());
        scores.push(Score::of(name, truth, &history[self.train..]));
        Ok(scores)
    }

    pub(super) fn learning(&self, profile: bool) -> Learning {
        Learning {
            profile,
            seed: self.seed,
            monotone: Vec::new(),
        }
    }

    /// Estimates the duration of each job from the past jobs of its user. A past job is used as
    /// soon as it has ended. The estimate is 0 if no job has ended.
    fn history_as_jobs_end(&self, seconds: &[f64]) -> Vec<f64> {
        let ended = self.trace.jobs.iter().zip(seconds);
        let ended = ended.map(|(job, &seconds)| Ended {
            user: &job.user,
            name: &job.name,
            gpus: job.gpus,
            submitted: job.submit,
            ended: job.submit.saturating_add(job.duration),
            seconds,
        });
        let estimates = estimates(&ended.collect::<Vec<_>>());
        estimates
            .into_iter()
            .map(Option::unwrap_or_default)
            .collect()
    }
}
