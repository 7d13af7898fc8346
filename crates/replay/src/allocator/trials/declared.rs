//! Searches that are defined in task files.

use std::sync::Arc;

use gleaner_domain::TrialSearch;
use gleaner_domain::error::{Error, Result};
use gleaner_search::{Job, LearningCurves, Next, Parameters, Search, Verdict, task_of_trial};

use super::searcher::{NewTrial, Searcher};

/// A search that is defined by its algorithm and its learning curves.
#[derive(Debug)]
pub(in crate::allocator) struct Declared {
    spec: Arc<TrialSearch>,
    /// The learning curves of each loss.
    curves: Vec<LearningCurves>,
    seed: u64,
    search: Search,
}

impl Declared {
    /// Begins the search. `seed` is the seed of the random losses and of the random choice of a task for each trial.
    ///
    /// # Errors
    /// The plan of the search is invalid.
    pub fn begin(spec: &Arc<TrialSearch>, seed: u64) -> Result<Self> {
        let search = Search::seeded(spec.plan.clone(), seed, &spec.space).map_err(|faults| {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            Error::Usage(format!("the search: {}", faults.join("; ")))
        })?;
        Ok(Declared {
            spec: Arc::clone(spec),
            curves: spec.curves(seed),
            seed,
            search,
        })
    }
}

impl Searcher for Declared {
    fn name(&self) -> String {
        self.spec.plan.algorithm.to_string()
    }

    fn max_resource(&self) -> f64 {
        self.spec.plan.max_resource
    }

    fn next(&mut self) -> Option<Job> {
        match self.search.next() {
            Next::Job(job) => Some(job),
            Next::Wait | Next::Done => None,
        }
    }

    fn describe(&mut self, trial: u32, tasks: usize) -> NewTrial {
        let given = self.spec.tasks.get(trial as usize).copied();
        NewTrial {
            origin: given.unwrap_or_else(|| task_of_trial(self.seed, trial, tasks) as u32),
            task: None,
            parameters: as_json(&self.search.parameters(trial)),
            parent: self.search.parent(trial).map(|parent| parent.trial),
            final_loss: self
                .search
                .true_loss(&self.curves[0], trial, self.max_resource()),
        }
    }

    fn loss_names(&self) -> Vec<String> {
        let losses = self.spec.losses.iter();
        losses.map(|loss| loss.name.clone()).collect()
    }

    fn losses(&mut self, job: &Job) -> Option<Vec<f64>> {
        let curves = self.curves.iter();
        let loss = |curves| self.search.loss(curves, job.trial, job.to);
        Some(curves.map(loss).collect())
    }

    fn report(&mut self, job: &Job, losses: &[f64]) -> Option<Vec<Verdict>> {
        // The replay reports each job exactly once, so the search accepts the report.
        Some(
            self.search
                .report_all(job.trial, losses)
                .unwrap_or_default(),
        )
    }

    fn resume(&mut self, trial: u32) -> Option<Job> {
        self.search.resume(trial)
    }

    fn unpromoted(&self) -> Vec<u32> {
        self.search.unpromoted()
    }
}

/// Hyperparameters as a JSON object; an empty string if there are none.
fn as_json(parameters: &Parameters) -> String {
    if parameters.is_empty() {
        return String::new();
    }
    // Serialising cannot fail: the keys are strings, and a number that is not finite becomes null.
    serde_json::to_string(parameters).unwrap_or_default()
}
