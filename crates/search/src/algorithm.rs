//! The names of the algorithms.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// An algorithm that divides the resources of a search among its trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Trains every trial to the end.
    Random,
    /// Measures all trials of a rung, then promotes the best of them (Li et al. 2020, Algorithm 1).
    SuccessiveHalving,
    /// Promotes a trial as soon as it is among the best measured so far (Li et al. 2020, Algorithm 2).
    Asha,
    /// Runs successive halving several times, each time with fewer trials and a higher first rung than before (Li et
    /// al. 2018).
    Hyperband,
    /// Measures all trials at equal intervals, and stops a trial if its best loss is above the median of the finished
    /// trials' average losses (Golovin et al. 2017, section 3.2.2).
    Median,
    /// Population-based training: bad trials are replaced by copies of good ones, with changed hyperparameters (Jaderberg
    /// et al. 2017).
    Pbt,
    /// Hyperband, except that a model of the losses measured so far proposes hyperparameters (Falkner et al. 2018).
    Bohb,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: [Algorithm; 7] = [
        Algorithm::Random,
        Algorithm::SuccessiveHalving,
        Algorithm::Asha,
        Algorithm::Hyperband,
        Algorithm::Median,
        Algorithm::Pbt,
        Algorithm::Bohb,
    ];

    /// Whether the resources determine the number of trials, as in Hyperband.
    pub fn derives_trials(self) -> bool {
        matches!(self, Algorithm::Hyperband | Algorithm::Bohb)
    }

    /// Whether all trials are measured at equal intervals, instead of at rungs that grow by the factor eta.
    pub fn has_even_rungs(self) -> bool {
        matches!(self, Algorithm::Median | Algorithm::Pbt)
    }

    /// Name in files and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Algorithm::Random => "random",
            Algorithm::SuccessiveHalving => "successive-halving",
            Algorithm::Asha => "asha",
            Algorithm::Hyperband => "hyperband",
            Algorithm::Median => "median",
            Algorithm::Pbt => "pbt",
            Algorithm::Bohb => "bohb",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A string that is not the name of an algorithm.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "unknown algorithm {0:?}: expected random, successive-halving, asha, hyperband, median, pbt or bohb"
)]
pub struct UnknownAlgorithm(pub String);

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(text: &str) -> Result<Self, UnknownAlgorithm> {
        let named = |algorithm: &Algorithm| algorithm.as_str() == text;
        let found = Algorithm::ALL.into_iter().find(named);
        found.ok_or_else(|| UnknownAlgorithm(text.to_owned()))
    }
}
