//! Estimates of durations, and their source.

use std::fmt;
use std::path::PathBuf;

use gleaner_learn::lucid::workload::{Estimator, EstimatorChoice};
use serde::Serialize;

use gleaner_domain::inputs::Estimates;
use gleaner_predict::Weekly;

/// Estimates of the durations of jobs.
#[derive(Default)]
pub struct Estimated {
    /// Estimates that are known before the simulation.
    pub estimates: Option<Box<dyn Estimates>>,
    /// Settings for estimates that are learnt during the simulation.
    pub weekly: Option<Weekly>,
    /// The source of the estimates.
    pub used: Option<EstimatesUsed>,
}

/// The source of the estimated durations.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "source")]
pub enum EstimatesUsed {
    /// The true durations.
    Oracle,
    /// The same duration for every job.
    Constant {
        /// The estimate in seconds.
        seconds: f64,
    },
    /// A file.
    File {
        /// Its path.
        path: PathBuf,
    },
    /// A trained model.
    Model {
        /// Its estimator.
        estimator: Estimator,
    },
    /// The simulation itself, which learns the estimates again each week.
    Learnt {
        /// The requested estimator.
        estimator: EstimatorChoice,
    },
}

impl Estimated {
    /// Estimates that are known before the simulation.
    pub fn known(used: EstimatesUsed, estimates: Box<dyn Estimates>) -> Self {
        Estimated {
            estimates: Some(estimates),
            used: Some(used),
            ..Estimated::default()
        }
    }
}

impl fmt::Display for EstimatesUsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EstimatesUsed::Oracle => f.write_str("the true durations"),
            EstimatesUsed::Constant { seconds } => write!(f, "{seconds} s for every job"),
            // Results must not depend on the folder of the file, so only the file's name is shown.
            EstimatesUsed::File { path } => {
                let name = path.file_name().unwrap_or(path.as_os_str());
                write!(f, "those of {}", name.display())
            }
            EstimatesUsed::Model { estimator } => {
                write!(f, "by the model's {estimator} ({})", estimator.title())
            }
            EstimatesUsed::Learnt { .. } => {
                f.write_str("learnt each week from the jobs that had ended by then")
            }
        }
    }
}
