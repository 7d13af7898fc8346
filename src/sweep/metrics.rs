//! What runs are compared by.

use serde::Serialize;
use serde_json::Value;

use super::field::{Field, Kind};

/// Which value of a metric is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The greatest.
    Max,
    /// The least.
    Min,
}

/// A figure of every run's summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// Its column.
    pub field: Field,
    /// Which value is the best; `None` of figures that are no goal, but describe the run.
    pub best: Option<Direction>,
}

impl Metric {
    /// Its value in a run's summary.
    pub fn of(&self, summary: &Value) -> Option<f64> {
        summary.pointer(self.field.pointer)?.as_f64()
    }
}

const fn metric(
    name: &'static str,
    pointer: &'static str,
    kind: Kind,
    best: Option<Direction>,
) -> Metric {
    Metric {
        field: Field {
            name,
            pointer,
            kind,
        },
        best,
    }
}

const MAX: Option<Direction> = Some(Direction::Max);
const MIN: Option<Direction> = Some(Direction::Min);

/// Figures of a replay.
pub const REPLAY: [Metric; 23] = [
    metric("span_seconds", "/span_seconds", Kind::Float, None),
    metric("nodes", "/nodes", Kind::Whole, None),
    metric("events", "/events", Kind::Whole, None),
    metric("events_optimal", "/events_optimal", Kind::Whole, None),
    metric("events_kept", "/events_kept", Kind::Whole, None),
    metric("total_work", "/total_work", Kind::Float, MAX),
    metric("idle_node_seconds", "/idle_node_seconds", Kind::Float, None),
    metric("used_node_seconds", "/used_node_seconds", Kind::Float, None),
    metric("rescale_loss", "/rescale_loss", Kind::Float, MIN),
    metric("preemption_loss", "/preemption_loss", Kind::Float, MIN),
    metric("equivalent_nodes", "/equivalent_nodes", Kind::Float, None),
    metric("dedicated_work", "/dedicated_work", Kind::Float, None),
    metric("efficiency", "/efficiency", Kind::Float, MAX),
    metric("fluid_work", "/fluid_work", Kind::Float, None),
    metric("fluid_efficiency", "/fluid_efficiency", Kind::Float, MAX),
    metric("task_count", "/tasks", Kind::Whole, None),
    metric("tasks_started", "/tasks_started", Kind::Whole, None),
    metric("tasks_finished", "/tasks_finished", Kind::Whole, MAX),
    metric("completion_mean_s", "/completion_mean_s", Kind::Float, MIN),
    metric(
        "completion_median_s",
        "/completion_median_s",
        Kind::Float,
        MIN,
    ),
    metric("completion_last_s", "/completion_last_s", Kind::Float, MIN),
    metric("fairness_min", "/fairness_min", Kind::Float, MAX),
    metric("fairness_jain", "/fairness_jain", Kind::Float, MAX),
];

/// Figures of a simulation.
pub const SIMULATE: [Metric; 15] = [
    metric("jobs", "/jobs", Kind::Whole, None),
    metric("avg_jct_s", "/avg_jct_s", Kind::Float, MIN),
    metric("avg_queue_s", "/avg_queue_s", Kind::Float, MIN),
    metric("p999_queue_s", "/p999_queue_s", Kind::Float, MIN),
    metric("makespan_s", "/makespan_s", Kind::Whole, MIN),
    metric("gpu_utilisation", "/gpu_utilisation", Kind::Float, MAX),
    metric("checkpoints", "/checkpoints", Kind::Whole, MIN),
    metric("small_jobs", "/small/jobs", Kind::Whole, None),
    metric("small_avg_jct_s", "/small/avg_jct_s", Kind::Float, MIN),
    metric("small_avg_queue_s", "/small/avg_queue_s", Kind::Float, MIN),
    metric(
        "small_p999_queue_s",
        "/small/p999_queue_s",
        Kind::Float,
        MIN,
    ),
    metric("large_jobs", "/large/jobs", Kind::Whole, None),
    metric("large_avg_jct_s", "/large/avg_jct_s", Kind::Float, MIN),
    metric("large_avg_queue_s", "/large/avg_queue_s", Kind::Float, MIN),
    metric(
        "large_p999_queue_s",
        "/large/p999_queue_s",
        Kind::Float,
        MIN,
    ),
];
