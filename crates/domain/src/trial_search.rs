//! Hyperparameter searches: an algorithm starts and stops tasks, which are the trials of the search.

use gleaner_search::{Algorithm, Fault, LearningCurves, Plan, Space};

/// A search whose trials train the tasks of a set.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialSearch {
    /// The algorithm and its settings. The work of a task is the work that a trial needs to reach `max_resource`.
    pub plan: Plan,
    /// The hyperparameters; empty if the search has none. They affect losses that are drawn from a family of curves.
    pub space: Space,
    /// The losses of trials. If the losses are drawn from a family of curves, the seed of the replay is used.
    pub curves: LearningCurves,
    /// For each trial, the index of its task in the set. If the list is empty, a task is drawn at random for each
    /// trial.
    pub tasks: Vec<u32>,
}

impl TrialSearch {
    /// The same search with another algorithm. For hyperband and bohb, the brackets determine the number of trials.
    ///
    /// # Errors
    /// The search does not suit the algorithm. The error is a sentence that explains why.
    pub fn by(mut self, algorithm: Algorithm) -> Result<Self, String> {
        self.plan.algorithm = algorithm;
        if algorithm.derives_trials() {
            self.plan.trials = None;
        }
        match self.faults().first() {
            Some(fault) => Err(format!("the search does not suit {algorithm}: {fault}")),
            None => Ok(self),
        }
    }

    /// The faults of the search. Each fault names the field as in a task file.
    pub fn faults(&self) -> Vec<Fault> {
        let faults = self.plan.validate_with(&self.space);
        let faults = faults.err().unwrap_or_default();
        if faults.is_empty() {
            self.misfit().into_iter().collect()
        } else {
            faults
        }
    }

    /// The first conflict between measured learning curves and the rest of the search.
    fn misfit(&self) -> Option<Fault> {
        let known = self.curves.trials_known()?;
        let measured = || "measured losses".to_owned();
        let (found, expected) = if self.plan.algorithm == Algorithm::Pbt {
            let expected = "a family of curves, because pbt starts trials that no file describes";
            (measured(), expected.to_owned())
        } else if !self.space.0.is_empty() {
            let expected =
                "a family of curves, because hyperparameters do not affect measured losses";
            (measured(), expected.to_owned())
        } else if self.trials() > u64::from(known) {
            (
                format!("learning curves of {known} trials"),
                format!("curves of all {} trials of the search", self.trials()),
            )
        } else {
            return None;
        };
        let field = "curves".to_owned();
        Some(Fault {
            field,
            found,
            expected,
        })
    }

    /// Number of trials that the search starts.
    pub fn trials(&self) -> u64 {
        self.plan.all_trials()
    }
}
