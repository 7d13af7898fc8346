//! Evaluates the duration estimates of estimators that are retrained each week.

use gleaner_domain::observer::Parts;
use gleaner_learn::ebm::FitError;
use gleaner_learn::lucid::workload::Estimator;
use rayon::prelude::*;

use super::workload::{EBMS, RULES, WorkloadTask};
use super::{EvaluateError, Score};
use crate::past_jobs;
use crate::weekly::{Jobs, weeks};

impl WorkloadTask<'_> {
    /// The number of jobs after the first week, and the scores of every estimator on these jobs.
    pub(super) fn weekly(
        &self,
        seconds: &[f64],
        parts: &Parts<'_>,
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
                let told = self.week_by_week(estimator, profile, parts);
                let told = told.map_err(|error| EvaluateError {
                    model: name.clone(),
                    problem: error.to_string(),
                })?;
                Ok(Score::of(name, truth, &told))
            });
        Ok((truth.len(), scores.collect::<Result<_, _>>()?))
    }

    /// The estimates for all jobs after the first week. The estimates for a week are 0 if no job
    /// had ended before that week.
    fn week_by_week(
        &self,
        estimator: Estimator,
        profile: bool,
        parts: &Parts<'_>,
    ) -> Result<Vec<f64>, FitError> {
        let mut told = Vec::new();
        for Jobs { from, jobs } in weeks(self.trace, self.start()) {
            let past = past_jobs(self.trace, self.known, self.could_have_ended(from));
            told.extend(if past.is_empty() {
                vec![0.0; jobs.len()]
            } else {
                let learning = self.learning(profile);
                let part = parts.part(learning.work_of(estimator, past.len()));
                let fitted = estimator.fit(&past, &learning, &part)?;
                part.complete();
                fitted.predict(&self.known[jobs])
            });
        }
        Ok(told)
    }

    pub(super) fn start(&self) -> i64 {
        self.trace.jobs.first().map_or(0, |job| job.submit)
    }

    /// Indices of the jobs that would have ended before `second` if no job had waited.
    pub(super) fn could_have_ended(&self, second: i64) -> impl Iterator<Item = usize> {
        let jobs = self.trace.jobs.iter().enumerate();
        let jobs = jobs.take_while(move |(_, job)| job.submit < second);
        let ended = jobs.filter(move |(_, job)| job.submit.saturating_add(job.duration) < second);
        ended.map(|(place, _)| place)
    }
}
