//! Estimates the durations of runs from the durations of finished runs.

use std::collections::BTreeMap;

use crate::PreparedRuns;

/// Durations of finished runs, from which the durations of other runs are estimated. The estimate for a run is the mean
/// duration of the finished runs that differ from it only in their seed. If there are no such runs, the estimate is the
/// run's number of steps times the mean seconds per step. That mean is taken over the finished runs of the same problem
/// or, if there are none, over all finished runs. If no run has finished, the estimate is the run's number of steps.
#[derive(Debug, Clone, Default)]
pub struct Costs {
    by_settings: BTreeMap<u64, Mean>,
    by_problem: BTreeMap<u64, Mean>,
    all: Mean,
}

/// A mean duration: total seconds, and the number of steps or runs that they cover.
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    seconds: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, seconds: f64, count: f64) {
        self.seconds += seconds;
        self.count += count;
    }

    fn value(self) -> Option<f64> {
        (self.count > 0.0).then(|| self.seconds / self.count)
    }
}

impl Costs {
    /// Collects the durations of finished runs. Each element of `took` is the index of a run and its duration in
    /// seconds.
    pub fn of(prepared: &dyn PreparedRuns, took: impl IntoIterator<Item = (usize, f64)>) -> Self {
        let mut costs = Costs::default();
        for (run, seconds) in took {
            let (alike, steps) = (prepared.alike(run), prepared.length(run) as f64);
            let same = costs.by_settings.entry(alike.same_but_seed).or_default();
            same.add(seconds, 1.0);
            let problem = costs.by_problem.entry(alike.same_problem).or_default();
            problem.add(seconds, steps);
            costs.all.add(seconds, steps);
        }
        costs
    }

    /// Estimated duration of a run in seconds, or its number of steps if no run has finished.
    pub fn of_run(&self, prepared: &dyn PreparedRuns, run: usize) -> f64 {
        let (alike, steps) = (prepared.alike(run), prepared.length(run) as f64);
        let value = |means: &BTreeMap<u64, Mean>, key| means.get(&key).and_then(|m| m.value());
        value(&self.by_settings, alike.same_but_seed)
            .or_else(|| value(&self.by_problem, alike.same_problem).map(|step| step * steps))
            .or_else(|| self.all.value().map(|step| step * steps))
            .unwrap_or(steps)
    }

    /// Whether estimates are in seconds. Until the first run has finished, they are in steps.
    pub fn are_seconds(&self) -> bool {
        self.all.count > 0.0
    }
}
