//! Median stopping (Golovin et al., "Google Vizier: A Service for Black-Box Optimization", KDD 2017, section 3.2.2).
//!
//! All trials train towards the same last rung, and their losses are measured at every rung on the way. At a rung, the
//! best loss of a trial so far is compared with the running averages of the finished trials up to the same rung. A
//! trial whose best loss is above the median of these averages is stopped. All other trials continue training
//! immediately.
//!
//! Example: three trials have finished. Their losses at the first two rungs were (4, 2), (5, 3) and (6, 6), so their
//! running averages at the second rung are 3, 4 and 6, with the median 4. A trial with the losses 7 and 5 is stopped
//! there, because its best loss, 5, is above 4. A trial with the losses 7 and 4 continues.

use std::collections::BTreeMap;

use crate::score::Score;
use crate::{Job, Scheduler, Verdict};

/// The state of a search with median stopping.
#[derive(Debug)]
pub(crate) struct Median {
    /// The resources of the rungs, ascending.
    resources: Vec<f64>,
    trials: u32,
    started: u32,
    /// The trials that have reached a rung but are neither stopped nor finished.
    courses: BTreeMap<u32, Course>,
    /// For each rung, the running averages of the finished trials, ascending.
    averages: Vec<Vec<f64>>,
    /// The next jobs of trials that were not stopped, by trial.
    ready: BTreeMap<u32, Job>,
}

/// The losses of a trial so far.
#[derive(Debug, Default)]
struct Course {
    best: Option<Score>,
    sum: f64,
    /// The running average of the losses at each rung that the trial has reached.
    averages: Vec<f64>,
}

impl Course {
    fn add(&mut self, score: Score) {
        self.best = self.best.into_iter().chain([score]).min();
        self.sum += score.loss;
        self.averages
            .push(self.sum / (self.averages.len() + 1) as f64);
    }
}

impl Median {
    /// Creates a search of `trials` trials on rungs with these resources.
    pub(crate) fn new(resources: Vec<f64>, trials: u32) -> Self {
        Median {
            averages: vec![Vec::new(); resources.len()],
            resources,
            trials,
            started: 0,
            courses: BTreeMap::new(),
            ready: BTreeMap::new(),
        }
    }

    /// Whether a trial with this best loss is stopped at a rung. No trial is stopped before another trial has finished.
    fn is_stopped(&self, best: Score, rung: usize) -> bool {
        let averages = self.averages.get(rung).map_or(&[][..], Vec::as_slice);
        let median = median(averages);
        median.is_some_and(|median| best.loss > median)
    }

    /// Records the averages of a finished trial.
    fn finish(&mut self, course: &Course) {
        for (averages, &average) in self.averages.iter_mut().zip(&course.averages) {
            let place = averages.partition_point(|other| *other < average);
            averages.insert(place, average);
        }
    }
}

impl Scheduler for Median {
    /// Jobs of trials that have already started take precedence over new trials.
    fn next_job(&mut self) -> Option<Job> {
        if let Some((_, job)) = self.ready.pop_first() {
            return Some(job);
        }
        if self.started >= self.trials {
            return None;
        }
        let trial = self.started;
        self.started += 1;
        Job::towards(&self.resources, trial, 0)
    }

    fn report(&mut self, job: &Job, loss: f64) -> Vec<Verdict> {
        let (trial, rung) = (job.trial, job.rung as usize);
        let mut course = self.courses.remove(&trial).unwrap_or_default();
        let score = Score::new(trial, loss);
        course.add(score);
        let Some(next) = Job::towards(&self.resources, trial, rung + 1) else {
            self.finish(&course);
            return vec![Verdict::Finished { trial }];
        };
        if self.is_stopped(course.best.unwrap_or(score), rung) {
            return vec![Verdict::Stopped { trial }];
        }
        self.courses.insert(trial, course);
        self.ready.insert(trial, next);
        let (rung, to) = (next.rung, next.to);
        vec![Verdict::Promoted { trial, rung, to }]
    }

    fn resume(&mut self, trial: u32) -> Option<Job> {
        self.ready.remove(&trial)
    }
}

/// The median of ascending numbers, which is the mean of the two middle numbers if their count is even. `None` if the
/// list is empty.
fn median(ascending: &[f64]) -> Option<f64> {
    let high = *ascending.get(ascending.len() / 2)?;
    let low = *ascending.get((ascending.len() - 1) / 2)?;
    Some(low / 2.0 + high / 2.0)
}
