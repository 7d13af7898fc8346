//! Selects the training, validation or test jobs of a data set.

use gleaner_driple::dataset::{Dataset, Example};

/// The jobs of a data set that are used: one of its three sets, or all jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Jobs on which models are trained.
    Train,
    /// Validation jobs: training keeps the weights of the epoch with the lowest error on these jobs.
    Val,
    /// Held-out jobs, on which the error of the trained network is measured.
    Test,
    /// All jobs.
    All,
}

impl Part {
    /// The examples of this part.
    pub fn of(self, data: &Dataset) -> Vec<&Example> {
        let batches = match self {
            Part::Train => vec![&data.train],
            Part::Val => vec![&data.val],
            Part::Test => vec![&data.test],
            Part::All => vec![&data.train, &data.val, &data.test],
        };
        batches.into_iter().flatten().flatten().collect()
    }
}
