//! Hyperparameter searches: an algorithm starts and stops tasks, which are the trials of the search.

use std::collections::BTreeSet;

use gleaner_search::{Algorithm, Fault, LearningCurves, Plan, Space};

/// Maximum number of losses of a trial.
pub const MAX_LOSSES: usize = 4;

/// A loss that a search measures for each trial.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialLoss {
    /// The name of the loss, which is not empty.
    pub name: String,
    /// The learning curves of all trials. If they are drawn from a family, their seed depends on the seed of the
    /// replay.
    pub curves: LearningCurves,
}

impl TrialLoss {
    /// The losses of a search with a single loss, which is called `loss`.
    pub fn only(curves: LearningCurves) -> Vec<Self> {
        let name = "loss".to_owned();
        vec![TrialLoss { name, curves }]
    }
}

/// A search whose trials train the tasks of a set.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialSearch {
    /// The algorithm and its settings. The work of a task is the work that a trial needs to reach `max_resource`.
    pub plan: Plan,
    /// The hyperparameters; empty if the search has none. They affect only losses that are drawn from a family of
    /// curves.
    pub space: Space,
    /// The losses of the trials, at least one and at most [`MAX_LOSSES`]. If there are several, trials are ranked by
    /// non-dominated fronts.
    pub losses: Vec<TrialLoss>,
    /// For each trial, the index of its task in the set. If the list is empty, a task is drawn at random for each
    /// trial.
    pub tasks: Vec<u32>,
}

impl TrialSearch {
    /// The same search with another algorithm. For hyperband and bohb, the brackets determine the number of trials.
    ///
    /// # Errors
    /// The algorithm cannot run the search. The error is a sentence that explains why.
    pub fn by(mut self, algorithm: Algorithm) -> Result<Self, String> {
        self.plan.algorithm = algorithm;
        if algorithm.derives_trials() {
            self.plan.trials = None;
        }
        match self.faults().first() {
            Some(fault) => Err(format!("{algorithm} cannot run this search: {fault}")),
            None => Ok(self),
        }
    }

    /// The faults of the search. Each fault refers to a field by its name in task files.
    pub fn faults(&self) -> Vec<Fault> {
        let faults = self.plan.validate_with(&self.space);
        let faults = faults.err().unwrap_or_default();
        if faults.is_empty() {
            let found = self.misfit_of_losses();
            found
                .or_else(|| self.misfit_of_curves())
                .into_iter()
                .collect()
        } else {
            faults
        }
    }

    /// The first fault in the list of losses.
    fn misfit_of_losses(&self) -> Option<Fault> {
        let names: Vec<&str> = self.losses.iter().map(|loss| loss.name.as_str()).collect();
        let ranks_by_fronts = matches!(
            self.plan.algorithm,
            Algorithm::Random
                | Algorithm::SuccessiveHalving
                | Algorithm::Asha
                | Algorithm::Hyperband
        );
        let distinct: BTreeSet<&&str> = names.iter().collect();
        let expected = if names.is_empty() || names.len() > MAX_LOSSES {
            format!("from 1 to {MAX_LOSSES} names")
        } else if distinct.len() < names.len() || names.contains(&"") {
            "different names, none of them empty".to_owned()
        } else if names.len() > 1 && !ranks_by_fronts {
            let algorithm = self.plan.algorithm;
            format!("one loss, because {algorithm} does not rank trials by several losses")
        } else {
            return None;
        };
        Some(Fault {
            field: "losses".to_owned(),
            found: format!("{names:?}"),
            expected,
        })
    }

    /// The first conflict between measured learning curves and the rest of the search.
    fn misfit_of_curves(&self) -> Option<Fault> {
        let known = self
            .losses
            .iter()
            .filter_map(|loss| loss.curves.trials_known());
        let known = known.min()?;
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

    /// The learning curves of all losses for a replay with this seed. Each loss has its own random numbers,
    /// which depend only on `seed` and on the position of the loss.
    pub fn curves(&self, seed: u64) -> Vec<LearningCurves> {
        // The multiplier, 2^64 divided by the golden ratio, spreads the seeds of the losses over all 64-bit numbers.
        let seed_of = |place: u64| seed.wrapping_add(place.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let losses = (0..).zip(&self.losses);
        losses
            .map(|(place, loss)| loss.curves.clone().seeded(seed_of(place)))
            .collect()
    }

    /// Number of trials that the search starts.
    pub fn trials(&self) -> u64 {
        self.plan.all_trials()
    }
}
