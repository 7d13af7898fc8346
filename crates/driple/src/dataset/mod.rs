//! Data sets: grouped graphs with measured labels, split into training, validation and test
//! batches.

pub(crate) mod arrays;
pub mod file;
pub mod job;
pub mod labels;
pub mod split;

pub use arrays::ArrayFault;
pub use file::DatasetError;

use crate::graph::{GroupedGraph, METRICS};

/// The names of the metrics, in the order of labels and predictions. Each resource has three
/// metrics: its average idle time, its average active time, and its peak.
pub const METRIC_NAMES: [&str; METRICS] = [
    "gpu_mem_util.idle",
    "gpu_mem_util.active",
    "gpu_mem_util.peak",
    "gpu_util.idle",
    "gpu_util.active",
    "gpu_util.peak",
    "net_rx.idle",
    "net_rx.active",
    "net_rx.peak",
    "net_tx.idle",
    "net_tx.active",
    "net_tx.peak",
];

/// The average utilisation of a resource, computed from its three metrics `[idle, active, peak]`.
/// It is the peak, multiplied by the share of time during which the resource is active. The result
/// is 0 if the idle time and the active time are both 0.
#[must_use]
pub fn average_utilisation([idle, active, peak]: [f64; 3]) -> f64 {
    let time = idle + active;
    if time > 0.0 {
        peak * active / time
    } else {
        0.0
    }
}

/// A job's grouped graph, and the metrics that were measured while the job was training.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The name of the job; empty if the data set does not record it.
    pub name: String,
    /// The job's graph.
    pub graph: GroupedGraph,
    /// The measured metrics, in the order of [`METRIC_NAMES`], each in its own unit.
    pub labels: [f32; METRICS],
}

/// Batches of examples. The optimiser takes one step for each batch.
pub type Batches = Vec<Vec<Example>>;

/// A data set. Its batches are in training order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dataset {
    /// The part that the network is trained on.
    pub train: Batches,
    /// The part whose error decides which epoch's weights are kept.
    pub val: Batches,
    /// The held-out part, on which the error of the trained network is measured.
    pub test: Batches,
}

impl Dataset {
    /// The largest value of each label in the training set. Training divides each label by this
    /// value. `None` if the training set is empty.
    #[must_use]
    pub fn largest_labels(&self) -> Option<[f32; METRICS]> {
        let labels = self.train.iter().flatten().map(|example| example.labels);
        labels.reduce(|most, labels| std::array::from_fn(|at| most[at].max(labels[at])))
    }
}

/// The mean of each label over `examples`; NaN if there are none.
#[must_use]
pub fn mean_labels(examples: &[&Example]) -> [f64; METRICS] {
    std::array::from_fn(|metric| {
        let labels = examples
            .iter()
            .map(|example| f64::from(example.labels[metric]));
        labels.sum::<f64>() / examples.len() as f64
    })
}
