//! Estimates of durations.

use gleaner_models::ebm::Settings;
use gleaner_models::lucid::history::{Ended, estimates};
use gleaner_models::lucid::workload::{
    Job as Known, Options, WorkloadModel, features, from_log, to_log,
};
use serde::Serialize;

use super::{EvaluateError, Score, Split, constants};
use crate::domain::Trace;
use crate::lucid::inputs::EstimateTable;

/// What is evaluated.
pub struct WorkloadTask<'t> {
    /// The trace.
    pub trace: &'t Trace,
    /// Its jobs as they are known at submission.
    pub known: &'t [Known<'t>],
    /// Jobs to learn from: the first ones.
    pub train: usize,
    /// Estimates from elsewhere, to measure beside.
    pub published: Option<&'t EstimateTable>,
    /// Seed of the models.
    pub seed: u64,
}

/// Estimates of the jobs after the split, and week by week, measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkloadScores {
    /// Jobs learnt from.
    pub train: usize,
    /// Jobs estimated.
    pub test: usize,
    /// By models that know the job's profile. In published traces it gives durations away.
    pub with_profile: Vec<Score>,
    /// By models that do not.
    pub without_profile: Vec<Score>,
    /// By rules, and from elsewhere.
    pub rules: Vec<Score>,
    /// Jobs estimated from the second week on.
    pub weekly_test: usize,
    /// By models learnt anew at the start of each week from the jobs that could have ended by
    /// then.
    pub weekly: Vec<Score>,
}

const WEEK: i64 = 7 * 24 * 3600;

/// Learns from the first jobs and estimates the others; then week by week.
///
/// # Errors
/// A model that cannot be trained, as from no job.
pub fn workload(task: &WorkloadTask<'_>) -> Result<WorkloadScores, EvaluateError> {
    let seconds: Vec<f64> = task
        .trace
        .jobs
        .iter()
        .map(|job| job.duration as f64)
        .collect();
    let (weekly_test, weekly) = task.weekly(&seconds)?;
    Ok(WorkloadScores {
        train: task.train,
        test: seconds.len() - task.train,
        with_profile: task.models(&seconds, true)?,
        without_profile: task.models(&seconds, false)?,
        rules: task.rules(&seconds),
        weekly_test,
        weekly,
    })
}

impl WorkloadTask<'_> {
    /// Models of seconds and of their logarithms.
    fn models(&self, seconds: &[f64], profile: bool) -> Result<Vec<Score>, EvaluateError> {
        let (first, rest) = self.known.split_at(self.train);
        let (train, test) = (features(first, profile), features(rest, profile));
        let (labels, truth) = seconds.split_at(self.train);
        let logarithms: Vec<f64> = labels.iter().map(|&seconds| to_log(seconds)).collect();
        let mut scores = Vec::new();
        for (logarithm, suffix) in [(true, " of logarithms"), (false, " of seconds")] {
            let split = Split {
                train: &train,
                test: &test,
                labels: if logarithm { &logarithms } else { labels },
                truth,
                unit: if logarithm {
                    from_log
                } else {
                    |seconds| seconds
                },
            };
            let options = Options { profile, logarithm };
            scores.push(split.ebm(&format!("EBM{suffix}"), self.settings(options))?);
            scores.extend(split.baselines(suffix, self.seed)?);
        }
        Ok(scores)
    }

    fn settings(&self, options: Options) -> Settings {
        options.settings(self.seed)
    }

    fn rules(&self, seconds: &[f64]) -> Vec<Score> {
        let (labels, truth) = seconds.split_at(self.train);
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
        let history = self.history(seconds);
        scores.push(Score::of("user's history", truth, &history[self.train..]));
        scores.extend(constants(labels, truth));
        scores
    }

    /// Estimates by the user's past jobs; without any past, 0.
    fn history(&self, seconds: &[f64]) -> Vec<f64> {
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

    /// From the second week on, by the machine with and without profiles.
    fn weekly(&self, seconds: &[f64]) -> Result<(usize, Vec<Score>), EvaluateError> {
        let jobs = &self.trace.jobs;
        let start = jobs.first().map_or(0, |job| job.submit);
        let from = jobs.partition_point(|job| job.submit < start.saturating_add(WEEK));
        if from == jobs.len() {
            return Ok((0, Vec::new()));
        }
        let mut scores = Vec::new();
        for (profile, suffix) in [(true, "with profiles"), (false, "without profiles")] {
            for (logarithm, of) in [(true, "logarithms"), (false, "seconds")] {
                let options = Options { profile, logarithm };
                let name = format!("EBM of {of}, {suffix}");
                let told = self
                    .week_by_week(seconds, start, options)
                    .map_err(|error| EvaluateError {
                        model: name.clone(),
                        problem: error.to_string(),
                    })?;
                scores.push(Score::of(name, &seconds[from..], &told));
            }
        }
        Ok((jobs.len() - from, scores))
    }

    /// Estimates of all jobs from the second week on.
    fn week_by_week(
        &self,
        seconds: &[f64],
        start: i64,
        options: Options,
    ) -> Result<Vec<f64>, gleaner_models::ebm::FitError> {
        let jobs = &self.trace.jobs;
        let before = |second: i64| jobs.partition_point(|job| job.submit < second);
        let mut told = Vec::new();
        let mut week = start.saturating_add(WEEK);
        while before(week) < jobs.len() {
            let next = week.saturating_add(WEEK);
            if before(week) == before(next) {
                week = next;
                continue;
            }
            let ended = |row: &usize| jobs[*row].submit.saturating_add(jobs[*row].duration) < week;
            let rows: Vec<usize> = (0..before(week)).filter(ended).collect();
            let known: Vec<Known<'_>> = rows.iter().map(|&row| self.known[row].clone()).collect();
            let labels: Vec<f64> = rows.iter().map(|&row| seconds[row]).collect();
            let model = WorkloadModel::fit(&known, &labels, options, &self.settings(options))?;
            told.extend(model.predict(&self.known[before(week)..before(next)]));
            week = next;
        }
        Ok(told)
    }
}
