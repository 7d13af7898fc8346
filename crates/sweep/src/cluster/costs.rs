//! How long runs are likely to take, from what others took.

use std::collections::BTreeMap;

use crate::PreparedRuns;

/// What finished runs took. A run costs what those took that differ in the seed only; else its length
/// times what a step took in runs of the same problem; else times what a step took in any run. Without
/// any finished run, its length.
#[derive(Debug, Clone, Default)]
pub struct Costs {
    by_settings: BTreeMap<u64, Mean>,
    by_problem: BTreeMap<u64, Mean>,
    all: Mean,
}

/// Seconds for a number of things.
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
    /// What these runs took, each given with its seconds.
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

    /// Seconds that a run is likely to take; without any finished run, its number of steps.
    pub fn of_run(&self, prepared: &dyn PreparedRuns, run: usize) -> f64 {
        let (alike, steps) = (prepared.alike(run), prepared.length(run) as f64);
        let value = |means: &BTreeMap<u64, Mean>, key| means.get(&key).and_then(|m| m.value());
        value(&self.by_settings, alike.same_but_seed)
            .or_else(|| value(&self.by_problem, alike.same_problem).map(|step| step * steps))
            .or_else(|| self.all.value().map(|step| step * steps))
            .unwrap_or(steps)
    }

    /// Whether a run has finished, so that costs are seconds.
    pub fn are_seconds(&self) -> bool {
        self.all.count > 0.0
    }
}
