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
        let plan = self.plan.validate().err().unwrap_or_default();
        let space = self.space.validate().err().unwrap_or_default();
        let space = space.into_iter().map(|fault| Fault {
            field: format!("space.{}", fault.field),
            ..fault
        });
        let faults: Vec<Fault> = plan.into_iter().chain(space).collect();
        if faults.is_empty() {
            self.misfit().into_iter().collect()
        } else {
            faults
        }
    }

    /// The first conflict between the algorithm, the hyperparameters and the learning curves.
    fn misfit(&self) -> Option<Fault> {
        let algorithm = self.plan.algorithm;
        let fault = |field: &str, found: String, expected: &str| {
            Some(Fault {
                field: field.to_owned(),
                found,
                expected: expected.to_owned(),
            })
        };
        if algorithm == Algorithm::Bohb && self.space.0.is_empty() {
            let expected = "at least one hyperparameter, because bohb models their effect";
            return fault("space", "nothing".to_owned(), expected);
        }
        let known = self.curves.trials_known()?;
        if algorithm == Algorithm::Pbt {
            let expected = "a family of curves, because pbt starts trials that no file describes";
            return fault("curves", "measured losses".to_owned(), expected);
        }
        if !self.space.0.is_empty() {
            let expected =
                "a family of curves, because hyperparameters do not affect measured losses";
            return fault("curves", "measured losses".to_owned(), expected);
        }
        if self.trials() > u64::from(known) {
            let found = format!("learning curves of {known} trials");
            let expected = format!("curves of all {} trials of the search", self.trials());
            return fault("curves", found, &expected);
        }
        None
    }

    /// Number of trials that the search starts.
    pub fn trials(&self) -> u64 {
        self.plan.all_trials()
    }
}
