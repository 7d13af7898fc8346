//! Grouped graphs with measured labels, cut into training, validation and test batches.

pub(crate) mod arrays;
pub mod file;
pub mod job;
pub mod labels;
pub mod split;

pub use arrays::ArrayFault;
pub use file::DatasetError;

use crate::graph::{GroupedGraph, METRICS};

/// The metrics in the order that labels and predictions have them: of each resource, how long it idles
/// on average, how long it is active, and its peak.
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

/// How much of a resource is used on average: its peak for the share of time in which it is active,
/// of `[idle, active, peak]`, its three metrics; 0 where it is neither idle nor active.
#[must_use]
pub fn average_utilisation([idle, active, peak]: [f64; 3]) -> f64 {
    let time = idle + active;
    if time > 0.0 {
        peak * active / time
    } else {
        0.0
    }
}

/// A graph and what was measured of its training.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The name of the job; empty where the data has none.
    pub name: String,
    /// Its graph.
    pub graph: GroupedGraph,
    /// The metrics measured, in [`METRIC_NAMES`] order and their own units.
    pub labels: [f32; METRICS],
}

/// Batches of examples: one step of the optimiser each.
pub type Batches = Vec<Vec<Example>>;

/// A data set, its batches in the order in which they are trained on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dataset {
    /// What is learnt from.
    pub train: Batches,
    /// What chooses the epoch that is kept.
    pub val: Batches,
    /// What neither sees.
    pub test: Batches,
}

impl Dataset {
    /// The largest of each label in the training part, which labels are scaled by; `None` where it is
    /// empty.
    #[must_use]
    pub fn largest_labels(&self) -> Option<[f32; METRICS]> {
        let labels = self.train.iter().flatten().map(|example| example.labels);
        labels.reduce(|most, labels| std::array::from_fn(|at| most[at].max(labels[at])))
    }
}

/// The mean of each label; not a number where there are no examples.
#[must_use]
pub fn mean_labels(examples: &[&Example]) -> [f64; METRICS] {
    std::array::from_fn(|metric| {
        let labels = examples
            .iter()
            .map(|example| f64::from(example.labels[metric]));
        labels.sum::<f64>() / examples.len() as f64
    })
}
