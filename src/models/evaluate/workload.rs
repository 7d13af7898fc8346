//! Estimates of durations.

use gleaner_models::Table;
use gleaner_models::ebm::{Control, FitError};
use gleaner_models::lucid::history::{Ended, estimates};
use gleaner_models::lucid::workload::{
    Estimator, Job as Known, Learning, Options, features, from_log, to_log,
};
use rayon::prelude::*;
use serde::Serialize;

use super::{BASELINES, EvaluateError, Score, Split, best, measured};
use crate::domain::Trace;
use crate::lucid::inputs::EstimateTable;
use crate::models::past_jobs;
use crate::models::weekly::{Jobs, weeks};

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
    /// Of all models and rules with profiles, and of those without, the one that ranks jobs best.
    pub best: Best,
    /// Jobs estimated from the second week on.
    pub weekly_test: usize,
    /// By estimators learnt again at the start of each week from the jobs that could have ended by
    /// then.
    pub weekly: Vec<Score>,
}

/// The names of the best models and rules by rank correlation, of those that have learnt from the
/// same jobs; none where none tells jobs apart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Best {
    /// Where models know profiles.
    pub with_profile: Option<String>,
    /// Where they do not.
    pub without_profile: Option<String>,
}

/// The two EBMs.
const EBMS: [Estimator; 2] = [Estimator::Ebm, Estimator::EbmSeconds];

/// Estimators that do not go by profiles.
const RULES: [Estimator; 3] = [Estimator::History, Estimator::Mean, Estimator::Median];

/// Learns from the first jobs and estimates the others; then week by week.
///
/// # Errors
/// A model that cannot be trained, as from no job, or the evaluation is stopped.
pub fn workload(
    task: &WorkloadTask<'_>,
    control: Control<'_>,
) -> Result<WorkloadScores, EvaluateError> {
    let seconds: Vec<f64> = task
        .trace
        .jobs
        .iter()
        .map(|job| job.duration as f64)
        .collect();
    let with_profile = task.models(&seconds, true, control)?;
    let without_profile = task.models(&seconds, false, control)?;
    let rules = task.rules(&seconds, control)?;
    // What models and rules have learnt from the same jobs.
    let own = || {
        let titles = RULES.map(Estimator::title);
        let rules = rules.iter();
        rules.filter(move |score| titles.contains(&score.model.as_str()))
    };
    let (weekly_test, weekly) = task.weekly(&seconds, control)?;
    Ok(WorkloadScores {
        train: task.train,
        test: seconds.len() - task.train,
        best: Best {
            with_profile: best(with_profile.iter().chain(own())),
            without_profile: best(without_profile.iter().chain(own())),
        },
        with_profile,
        without_profile,
        rules,
        weekly_test,
        weekly,
    })
}

/// Whether the logarithm is learnt.
fn options(ebm: Estimator, profile: bool) -> Options {
    Options {
        profile,
        logarithm: ebm == Estimator::Ebm,
    }
}

impl WorkloadTask<'_> {
    /// The work of an evaluation, of which it tells as it goes: for
    /// [`Control::progress`].
    pub fn work(&self) -> u64 {
        let of = |ebm, profile, rows| {
            let columns = features(&[], profile).columns().len();
            let settings = options(ebm, profile).settings(self.seed);
            settings.work(rows, columns)
        };
        let all = |rows: usize| -> u64 {
            let profiles = [true, false].into_iter();
            let works = profiles.flat_map(|profile| EBMS.map(|ebm| of(ebm, profile, rows)));
            works.sum()
        };
        let baselines = (4 * BASELINES) as u64 * self.baseline_work();
        let weeks = weeks(self.trace, self.start());
        let weekly: u64 = weeks
            .map(|week| all(self.could_have_ended(week.from).count()))
            .sum();
        all(self.train) + baselines + weekly
    }

    /// About the time of a model from a library, in that of EBMs' work.
    fn baseline_work(&self) -> u64 {
        let settings = options(Estimator::Ebm, true).settings(self.seed);
        settings.work(self.train, features(&[], true).columns().len())
    }

    /// Models of seconds and of their logarithms.
    fn models(
        &self,
        seconds: &[f64],
        profile: bool,
        control: Control<'_>,
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
                labels: match options.logarithm {
                    true => &logarithms,
                    false => labels,
                },
                truth,
                unit: match options.logarithm {
                    true => from_log,
                    false => |seconds| seconds,
                },
                control,
            };
            let suffix = ebm.title().trim_start_matches("EBM");
            scores.push(split.ebm(ebm.title(), options.settings(self.seed))?);
            scores.extend(split.baselines(suffix, self.seed, self.baseline_work())?);
        }
        Ok(scores)
    }

    fn rules(&self, seconds: &[f64], control: Control<'_>) -> Result<Vec<Score>, EvaluateError> {
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
            let fit = || rule.fit(&past, &self.learning(false), control);
            scores.push(measured(
                rule.title(),
                truth,
                || fit().map_err(|error| error.to_string()),
                |fitted| Ok(fitted.predict(&self.known[self.train..])),
            )?);
        }
        let history = self.history_as_jobs_end(seconds);
        let name = format!("{}, as jobs end", Estimator::History.title());
        scores.push(Score::of(name, truth, &history[self.train..]));
        Ok(scores)
    }

    fn learning(&self, profile: bool) -> Learning {
        Learning {
            profile,
            seed: self.seed,
            monotone: Vec::new(),
        }
    }

    /// Estimates by the user's past jobs, which are learnt from as soon as they have ended; without
    /// any past, 0.
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

    /// Every estimator from the second week on.
    fn weekly(
        &self,
        seconds: &[f64],
        control: Control<'_>,
    ) -> Result<(usize, Vec<Score>), EvaluateError> {
        let first = weeks(self.trace, self.start()).next();
        let Some(Jobs { jobs, .. }) = first else {
            return Ok((0, Vec::new()));
        };
        let truth = &seconds[jobs.start..];
        let ebms = [(true, ", with profiles"), (false, ", without profiles")].into_iter();
        let ebms = ebms.flat_map(|(profile, suffix)| {
            EBMS.map(|ebm| (ebm, profile, format!("{}{suffix}", ebm.title())))
        });
        let rules = RULES.map(|rule| (rule, false, rule.title().to_owned()));
        let estimators: Vec<_> = ebms.chain(rules).collect();
        let scores = estimators
            .into_par_iter()
            .map(|(estimator, profile, name)| {
                let told = self.week_by_week(estimator, profile, control);
                let told = told.map_err(|error| EvaluateError {
                    model: name.clone(),
                    problem: error.to_string(),
                })?;
                Ok(Score::of(name, truth, &told))
            });
        Ok((truth.len(), scores.collect::<Result<_, _>>()?))
    }

    /// Estimates of all jobs from the second week on that has jobs; 0 while no job has ended.
    fn week_by_week(
        &self,
        estimator: Estimator,
        profile: bool,
        control: Control<'_>,
    ) -> Result<Vec<f64>, FitError> {
        let mut told = Vec::new();
        for Jobs { from, jobs } in weeks(self.trace, self.start()) {
            let past = past_jobs(self.trace, self.known, self.could_have_ended(from));
            told.extend(match past.is_empty() {
                true => vec![0.0; jobs.len()],
                false => {
                    let fitted = estimator.fit(&past, &self.learning(profile), control)?;
                    fitted.predict(&self.known[jobs])
                }
            });
        }
        Ok(told)
    }

    fn start(&self) -> i64 {
        self.trace.jobs.first().map_or(0, |job| job.submit)
    }

    /// The jobs that would have ended before a second if none had waited, by their places.
    fn could_have_ended(&self, second: i64) -> impl Iterator<Item = usize> {
        let jobs = self.trace.jobs.iter().enumerate();
        let jobs = jobs.take_while(move |(_, job)| job.submit < second);
        let ended = jobs.filter(move |(_, job)| job.submit.saturating_add(job.duration) < second);
        ended.map(|(place, _)| place)
    }
}
