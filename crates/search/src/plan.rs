//! The settings of a search.

use serde::{Deserialize, Serialize};

use crate::{Algorithm, Fault, Space};

/// Maximum number of jobs of a search: trials times rungs.
pub const MAX_JOBS: u64 = 1_000_000;

/// Maximum number of rungs of a search.
pub const MAX_RUNGS: usize = 64;

/// The settings of a search.
///
/// Resources are in a unit that the user chooses, such as epochs, steps or samples. They need not be whole numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Number of trials, at least 1; for population-based training, the size of the population, at least 5. Not set for
    /// Hyperband and BOHB, whose numbers of trials follow from the resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trials: Option<u32>,
    /// Reduction factor, at least 2: one in `eta` trials of a rung is promoted. Random search does not
    /// use it.
    #[serde(default = "default_eta")]
    pub eta: u32,
    /// The resource of the bottom rung, r in the papers; above 0. Random search does not use it.
    #[serde(default = "default_min_resource")]
    pub min_resource: f64,
    /// The resource to which the best trials are trained, R in the papers; at least `min_resource`.
    pub max_resource: f64,
}

fn default_eta() -> u32 {
    3
}

fn default_min_resource() -> f64 {
    1.0
}

impl Plan {
    /// A plan with the defaults: `eta` 3, `min_resource` 1 and no number of trials.
    pub fn new(algorithm: Algorithm, max_resource: f64) -> Self {
        Plan {
            algorithm,
            trials: None,
            eta: default_eta(),
            min_resource: default_min_resource(),
            max_resource,
        }
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// Returns a fault for each field that is out of range. If there are none, returns the first of these conflicts:
    /// more than [`MAX_RUNGS`] rungs; successive halving with fewer than eta^(rungs − 1) trials, of which none would
    /// reach the last rung (Li et al. 2020 require the same minimum); more than [`MAX_JOBS`] jobs.
    pub fn validate(&self) -> Result<(), Vec<Fault>> {
        let mut faults: Vec<Fault> = self.check_trials().into_iter().collect();
        self.check_eta(&mut faults);
        self.check_resources(&mut faults);
        if faults.is_empty() {
            faults.extend(self.misfit());
        }
        if faults.is_empty() {
            Ok(())
        } else {
            Err(faults)
        }
    }

    /// Checks the settings and the hyperparameters, and whether the algorithm can use them.
    ///
    /// # Errors
    /// A setting or a hyperparameter is invalid, or BOHB is chosen and the space is empty. Returns all faults. The field
    /// of a hyperparameter's fault begins with `space`.
    pub fn validate_with(&self, space: &Space) -> Result<(), Vec<Fault>> {
        let mut faults = self.validate().err().unwrap_or_default();
        let of_space = space.validate().err().unwrap_or_default();
        faults.extend(of_space.into_iter().map(|fault| Fault {
            field: format!("space.{}", fault.field),
            ..fault
        }));
        if faults.is_empty() && self.algorithm == Algorithm::Bohb && space.0.is_empty() {
            let expected = "at least one hyperparameter, because bohb models their effect";
            faults.push(Fault::new("space", "nothing", expected));
        }
        if faults.is_empty() {
            Ok(())
        } else {
            Err(faults)
        }
    }

    fn check_trials(&self) -> Option<Fault> {
        let hyperband = self.algorithm.derives_trials();
        let number = "a number of at least 1";
        match self.trials {
            Some(trials) if hyperband => {
                let algorithm = self.algorithm;
                let expected =
                    format!("nothing: {algorithm} derives the number of trials from the resources");
                Some(Fault::new("trials", trials, expected))
            }
            None if !hyperband => Some(Fault::new("trials", "nothing", number)),
            Some(0) => Some(Fault::new("trials", 0, number)),
            Some(trials @ 1..5) if self.algorithm == Algorithm::Pbt => {
                let expected =
                    "at least 5, so that the worst fifth of the population contains a trial";
                Some(Fault::new("trials", trials, expected))
            }
            Some(_) | None => None,
        }
    }

    fn check_eta(&self, faults: &mut Vec<Fault>) {
        if self.eta < 2 {
            faults.push(Fault::new("eta", self.eta, "a number of at least 2"));
        }
    }

    fn check_resources(&self, faults: &mut Vec<Fault>) {
        let (least, most) = (self.min_resource, self.max_resource);
        let positive = |value: f64| value.is_finite() && value > 0.0;
        for (field, value) in [("min_resource", least), ("max_resource", most)] {
            if !positive(value) {
                faults.push(Fault::new(field, value, "a finite number above 0"));
            }
        }
        let used = self.algorithm != Algorithm::Random;
        if used && positive(least) && positive(most) && most < least {
            let expected = format!("at least min_resource, which is {least}");
            faults.push(Fault::new("max_resource", most, expected));
        }
    }

    /// The first conflict between settings that are valid individually.
    fn misfit(&self) -> Option<Fault> {
        let rungs = self.rungs().len();
        if rungs > MAX_RUNGS {
            let (least, eta) = (self.min_resource, self.eta);
            let or_eta = if self.algorithm.has_even_rungs() {
                String::new()
            } else {
                format!(" or eta above {eta}")
            };
            let expected = format!(
                "at most {MAX_RUNGS} rungs: reduce max_resource, or raise min_resource above {least}{or_eta}"
            );
            return Some(Fault::new("max_resource", self.max_resource, expected));
        }
        self.too_few_trials(rungs).or_else(|| self.too_many_jobs())
    }

    fn too_few_trials(&self, rungs: usize) -> Option<Fault> {
        let trials = self.trials?;
        if self.algorithm != Algorithm::SuccessiveHalving {
            return None;
        }
        let (eta, steps) = (self.eta, rungs.saturating_sub(1) as u32);
        let needed = eta.checked_pow(steps);
        if needed.is_some_and(|needed| trials >= needed) {
            return None;
        }
        let number = needed.map_or_else(|| format!("{eta}^{steps}"), |needed| needed.to_string());
        let expected = format!(
            "at least {number}, so that one trial reaches the last of {rungs} rungs with eta {eta}"
        );
        Some(Fault::new("trials", trials, expected))
    }

    fn too_many_jobs(&self) -> Option<Fault> {
        let jobs = self.most_jobs();
        if jobs <= MAX_JOBS {
            return None;
        }
        let expected = format!("at most {MAX_JOBS} jobs (trials times rungs), not {jobs}");
        Some(match self.trials {
            Some(trials) => Fault::new("trials", trials, expected),
            None => Fault::new("max_resource", self.max_resource, expected),
        })
    }
}
