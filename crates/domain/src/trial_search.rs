//! Hyperparameter searches: an algorithm starts and stops tasks, which are the trials of the search.

use gleaner_search::{Algorithm, LearningCurves, Plan};

/// A search whose trials train the tasks of a set.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialSearch {
    /// The algorithm and its settings. The work of a task is the work that a trial needs to reach `max_resource`.
    pub plan: Plan,
    /// The losses of trials. If the losses are drawn from a family of curves, the seed of the replay is used.
    pub curves: LearningCurves,
    /// For each trial, the index of its task in the set. If the list is empty, a task is drawn at random for each
    /// trial.
    pub tasks: Vec<u32>,
}

impl TrialSearch {
    /// The same search with another algorithm. For hyperband, the brackets determine the number of trials.
    ///
    /// # Errors
    /// The search does not suit the algorithm. The error is a sentence that explains why.
    pub fn by(mut self, algorithm: Algorithm) -> Result<Self, String> {
        self.plan.algorithm = algorithm;
        if algorithm == Algorithm::Hyperband {
            self.plan.trials = None;
        }
        let faults = self.plan.validate().err().unwrap_or_default();
        if let Some(fault) = faults.first() {
            return Err(format!("the search does not suit {algorithm}: {fault}"));
        }
        match self.curves.trials_known() {
            Some(known) if self.trials() > u64::from(known) => Err(format!(
                "{algorithm} starts {} trials, but there are learning curves for only {known}",
                self.trials()
            )),
            _ => Ok(self),
        }
    }

    /// Number of trials that the search starts.
    pub fn trials(&self) -> u64 {
        self.plan.all_trials()
    }
}
