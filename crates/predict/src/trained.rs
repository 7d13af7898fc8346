//! Trained models, and the data they were trained on.

use std::fmt;

use super::stored::Input;
use gleaner_learn::lucid::packing::PackingModel;
use gleaner_learn::lucid::throughput::{FEATURES, ThroughputModel};
use gleaner_learn::lucid::workload::{WorkloadModel, features};
use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

/// A trained model and its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// The model.
    pub model: Model,
    /// The rows that the model was trained on.
    pub span: Span,
    /// The files that the model was trained on.
    pub inputs: Vec<Input>,
}

/// The rows that a model was trained on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// Number of rows.
    pub rows: usize,
    /// Earliest civil time of the rows; `None` if the rows have no times.
    pub from: Option<DateTime>,
    /// Latest civil time of the rows; `None` if the rows have no times.
    pub to: Option<DateTime>,
}

/// One of the models that Lucid uses for scheduling.
#[derive(Debug, Clone, PartialEq)]
pub enum Model {
    /// Forecasts submissions.
    Throughput(ThroughputModel),
    /// Scores how well workloads share GPUs.
    Packing(PackingModel),
    /// Estimates how long jobs run.
    Workload(WorkloadModel),
}

/// The kind of a model, by the quantity that the model predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Forecasts the number of GPU jobs in the next ten minutes, and the number of GPUs that they
    /// request.
    Throughput,
    /// Scores how well workloads share a GPU: 0, 1 or 2.
    Packing,
    /// Estimates how long jobs run.
    Workload,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 3] = [Kind::Throughput, Kind::Packing, Kind::Workload];

    /// The name of the model's file in a directory of models.
    pub fn file_name(self) -> String {
        format!("{self}.json")
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Throughput => "throughput",
            Kind::Packing => "packing",
            Kind::Workload => "workload",
        })
    }
}

impl Model {
    /// Names of the model's features, in order. For a workload model, these are the features of its EBMs.
    pub fn features(&self) -> Vec<String> {
        match self {
            Model::Throughput(_) => FEATURES.map(str::to_owned).to_vec(),
            Model::Workload(model) => features(&[], model.profile()).names().to_vec(),
            Model::Packing(model) => model.tree().features().to_vec(),
        }
    }

    /// Kind of the model.
    pub fn kind(&self) -> Kind {
        match self {
            Model::Throughput(_) => Kind::Throughput,
            Model::Packing(_) => Kind::Packing,
            Model::Workload(_) => Kind::Workload,
        }
    }
}
