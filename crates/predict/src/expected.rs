//! Computes, from an inspector's predictions, the load that a workload is expected to put on its
//! GPUs.

use gleaner_driple::dataset::average_utilisation;
use gleaner_driple::graph::{Graph, GroupedGraph, METRICS};

use gleaner_domain::Usage;

/// The method of estimating the memory that a workload holds. Inspectors do not predict this
/// amount: the GPU memory utilisation among their metrics is the share of time during which memory
/// is read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// From the tensors of the workload's graph.
    Tensors,
    /// From the peak memory utilisation, interpreted as a share of the GPU's memory. This is correct only for
    /// inspectors that were trained on the share of memory held instead of the memory utilisation.
    Peak,
}

/// Memory in MB that a framework and its libraries hold on a GPU in addition to tensors. The value
/// is the memory of the smallest published profiles, whose models have hardly any tensors.
const LIBRARIES: f64 = 2_000.0;
/// Bytes per element of a tensor.
const ELEMENT: f64 = 4.0;
/// Bytes per MB.
const MB: f64 = 1_048_576.0;

/// Estimates, from the tensors of a graph, how much GPU memory training uses, in MB.
///
/// Outputs of the forward pass are kept until their gradients are computed. Gradients are dropped
/// as soon as they are used. Outputs and gradients have the same sizes. Therefore, training holds
/// half of the outputs of all operations if the graph contains gradients. If it contains only the
/// forward pass, training holds all outputs. For example, 1,048,576 elements of a graph with
/// gradients take 0.5 × 4 bytes each, which is 2 MB in total. The result also includes the memory
/// of the framework and its libraries. It is an underestimate, because optimisers also store
/// additional copies of parameters.
pub fn tensors(graph: &Graph, grouped: &GroupedGraph) -> f64 {
    let elements: f64 = grouped
        .features
        .iter()
        .map(|group| f64::from(group[0]))
        .sum();
    let kept = if has_gradients(graph) { 0.5 } else { 1.0 };
    LIBRARIES + elements * kept * ELEMENT / MB
}

/// Whether a graph has operations of the backward pass, or updates of parameters.
fn has_gradients(graph: &Graph) -> bool {
    let is_of_training =
        |op: &str| op.contains("Backprop") || op.ends_with("Grad") || op.contains("Apply");
    graph.nodes.iter().any(|node| is_of_training(&node.op))
}

/// A predicted usage, limited to possible values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// The usage. Its speed is 0, because speeds are not predicted.
    pub usage: Usage,
    /// Whether a value had to be limited: a peak utilisation outside 0 to 100 %, a time below 0 s,
    /// or more memory than a GPU has.
    pub clipped: bool,
}

/// Converts an inspector's `metrics` to a usage. `tensors` is the memory that the tensors of the
/// graph hold, and `memory` is the memory of a GPU, both in MB. `None` if a metric is not a finite
/// number.
///
/// Utilisations are averages over time: the peak times the share of time during which the resource
/// is not idle. A GPU that is active for 3 of 4 s at a peak of 80 % has a utilisation of 60 %.
pub fn usage(
    metrics: &[f64; METRICS],
    (held, tensors): (Held, f64),
    memory: f64,
) -> Option<Expected> {
    if !metrics.iter().all(|metric| metric.is_finite()) {
        return None;
    }
    let mut bounds = Bounds { clipped: false };
    let mut average = |at: usize| {
        let [idle, active] = [metrics[at], metrics[at + 1]].map(|s| bounds.within(s, f64::MAX));
        let peak = bounds.within(metrics[at + 2], 100.0);
        (average_utilisation([idle, active, peak]), peak)
    };
    let (gmem_util, peak) = average(0);
    let (gpu_util, _) = average(3);
    let gmem = match held {
        Held::Tensors => bounds.within(tensors, memory),
        Held::Peak => peak / 100.0 * memory,
    };
    let usage = Usage {
        speed: 0.0,
        gpu_util,
        gmem_util,
        gmem,
    };
    Some(Expected {
        usage: thousandths(usage),
        clipped: bounds.clipped,
    })
}

/// Clamps predicted values to their valid ranges, and records whether any value was changed.
struct Bounds {
    clipped: bool,
}

impl Bounds {
    fn within(&mut self, value: f64, most: f64) -> f64 {
        let bounded = value.clamp(0.0, most);
        self.clipped |= bounded != value;
        bounded
    }
}

/// Rounds the values of a usage to three decimals, like those of measured profiles.
fn thousandths(usage: Usage) -> Usage {
    let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
    Usage {
        speed: usage.speed,
        gpu_util: rounded(usage.gpu_util),
        gmem_util: rounded(usage.gmem_util),
        gmem: rounded(usage.gmem),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_driple::graph::{Node, Shape};

    /// The metrics of a job. Its memory is busy for 1 of 4 s at 40 %, and its GPU for 3 of 4 s at 80 %.
    const METRICS_OF_A_JOB: [f64; METRICS] =
        [3.0, 1.0, 40.0, 1.0, 3.0, 80.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0];

    fn expected(metrics: &[f64; METRICS], held: Held) -> Expected {
        usage(metrics, (held, 2_500.0), 16_000.0).unwrap()
    }

    // The GPU is active for ¾ of the time at 80 %, and its memory for ¼ of the time at 40 %.
    #[test]
    fn utilisations_are_averages_and_memory_is_that_held() {
        let found = expected(&METRICS_OF_A_JOB, Held::Tensors);
        let usage = Usage {
            speed: 0.0,
            gpu_util: 60.0,
            gmem_util: 10.0,
            gmem: 2_500.0,
        };
        assert_eq!((found.usage, found.clipped), (usage, false));
        assert_eq!(expected(&METRICS_OF_A_JOB, Held::Peak).usage.gmem, 6_400.0);
    }

    #[test]
    fn metrics_out_of_bounds_are_clipped_and_reported() {
        let with = |at: usize, value: f64| {
            let mut metrics = METRICS_OF_A_JOB;
            metrics[at] = value;
            expected(&metrics, Held::Tensors)
        };
        assert_eq!(with(5, 120.0).usage.gpu_util, 75.0);
        assert_eq!(with(3, -0.5).usage.gpu_util, 80.0);
        assert_eq!(with(1, -1.0).usage.gmem_util, 0.0);
        assert!(
            [with(5, 120.0), with(3, -0.5), with(1, -1.0), with(2, -1.0)]
                .iter()
                .all(|e| e.clipped)
        );
        // The values of the network metrics are not checked.
        assert!(!with(8, -7.0).clipped);
        let much = usage(&METRICS_OF_A_JOB, (Held::Tensors, 1e9), 16_000.0).unwrap();
        assert_eq!((much.usage.gmem, much.clipped), (16_000.0, true));
        let mut metrics = METRICS_OF_A_JOB;
        metrics[8] = f64::NAN;
        assert_eq!(usage(&metrics, (Held::Peak, 0.0), 1.0), None);
        metrics = [0.0; METRICS];
        assert_eq!(expected(&metrics, Held::Peak).usage, Usage::default());
    }

    #[test]
    fn graphs_with_gradients_hold_half_their_tensors() {
        let graph = |op: &str| Graph {
            nodes: vec![Node {
                name: "a".to_owned(),
                op: op.to_owned(),
                device: String::new(),
                inputs: Vec::new(),
                shape: Shape::None,
            }],
        };
        let grouped = GroupedGraph {
            features: vec![[262_144.0, 1.0, 0.0], [262_144.0 * 3.0, 1.0, 0.0]],
            edges: vec![(0, 1)],
        };
        assert_eq!(tensors(&graph("Conv2D"), &grouped), 2_004.0);
        for op in [
            "Conv2DBackpropInput",
            "ReluGrad",
            "ApplyAdam",
            "ResourceApplyAdam",
        ] {
            assert_eq!(tensors(&graph(op), &grouped), 2_002.0, "{op}");
        }
    }
}
