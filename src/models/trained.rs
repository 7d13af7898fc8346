//! A trained model, and what it was trained on.

use std::fmt;

use super::stored::Input;
use gleaner_models::isotonic::Direction;
use gleaner_models::lucid::packing::PackingModel;
use gleaner_models::lucid::throughput::ThroughputModel;
use gleaner_models::lucid::workload::WorkloadModel;
use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

/// A trained model with its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// The model.
    pub model: Model,
    /// What it was trained on.
    pub span: Span,
    /// The files it was trained on.
    pub inputs: Vec<Input>,
}

/// Rows a model was trained on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// How many.
    pub rows: usize,
    /// Their first civil time, where they have one.
    pub from: Option<DateTime>,
    /// Their last.
    pub to: Option<DateTime>,
}

/// One of the models that Lucid schedules by.
#[derive(Debug, Clone, PartialEq)]
pub enum Model {
    /// What will be submitted.
    Throughput(ThroughputModel),
    /// Who shares a GPU well.
    Packing(PackingModel),
    /// How long jobs will run.
    Workload(WorkloadModel),
}

/// Which model.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Forecast of the GPU jobs submitted in the next ten minutes, and of their GPUs.
    Throughput,
    /// Sharing scores of workloads: 0, 1 or 2.
    Packing,
    /// Estimates of how long jobs run.
    Workload,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 3] = [Kind::Throughput, Kind::Packing, Kind::Workload];

    /// The name of its file in a directory of models.
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
    /// Names of its features, in order.
    pub fn features(&self) -> Vec<String> {
        let machine = match self {
            Model::Throughput(model) => model.jobs(),
            Model::Workload(model) => model.machine(),
            Model::Packing(model) => return model.tree().features().to_vec(),
        };
        let names = machine.features().iter();
        names.map(|feature| feature.name.clone()).collect()
    }

    /// Makes what a numeric feature adds monotone; `false` where there is no such feature, as in
    /// a packing model.
    pub fn smooth(&mut self, feature: &str, direction: Direction) -> bool {
        match self {
            Model::Throughput(model) => model.smooth(feature, direction),
            Model::Workload(model) => model.smooth(feature, direction),
            Model::Packing(_) => false,
        }
    }

    /// Which it is.
    pub fn kind(&self) -> Kind {
        match self {
            Model::Throughput(_) => Kind::Throughput,
            Model::Packing(_) => Kind::Packing,
            Model::Workload(_) => Kind::Workload,
        }
    }
}
